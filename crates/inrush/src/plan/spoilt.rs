//! Columns that a few values keep from the type of all others: what they become, and what to say to have it otherwise.
//!
//! Without a word from the user such a column is text, and he is told so. Where bad rows are allowed, it keeps the type of nearly all
//! its values, and the others are bad rows, as long as there are no more of them than may be.

use crate::plan::textual::form_words;
use crate::plan::{
    FieldFacts, Inference, RejectLimit, Request, SourceFacts, Spoiler, TargetFacts, Type,
};
use inrush_core::reading::Family;
use inrush_core::value::digits::Digits;
use inrush_core::value::double;
use inrush_core::value::rule;
use inrush_core::wording::said_of;

/// The columns' types where the load makes the table, and whether bad rows are the price of each; what the user has to hear of it goes
/// to `hints`.
pub(super) fn types(
    request: &Request,
    (source, target): (&SourceFacts, &TargetFacts),
    fields: &[FieldFacts],
    hints: &mut Vec<String>,
) -> Vec<(Type, bool)> {
    if request.inference == Inference::Text {
        return vec![(Type::Text, false); fields.len()];
    }
    let is_open = |field: &&FieldFacts| !request.types.keys().any(|name| field.is_called(name));
    let limit = if source.is_intolerant { RejectLimit::Rows(0) } else { request.max_rejects };
    let kept = kept(limit, source, fields, is_open);
    let becomes_text = |(field, kept): &(&FieldFacts, &Option<Type>)| {
        kept.is_none() && is_open(field) && field.ty == Type::Text
    };
    let text = fields.iter().zip(&kept).filter(becomes_text).map(|(field, _)| field);
    hints.extend(words(text, target));
    let with_kept = fields.iter().zip(&kept);
    hints.extend(with_kept.filter_map(|(field, kept)| price(field, (*kept)?, request.max_rejects)));
    fields
        .iter()
        .zip(kept)
        .map(|(field, kept)| (kept.unwrap_or(field.ty), kept.is_some()))
        .collect()
}

/// What keeps a column from being of the type that most of its values are.
struct Nearly {
    ty: Type,
    misfits: u64,
    seen: u64,
}

/// What the column nearly is. One whose values all are of the type, but written in a way that it would not keep, has no bad values.
fn nearly(spoiler: &Spoiler) -> Option<Nearly> {
    match spoiler {
        // Bytes take any text, so none would be a bad value.
        Spoiler::Values { narrower: Type::Bytes, .. } => None,
        Spoiler::Null { narrower, fitting, seen, .. }
        | Spoiler::Values { narrower, fitting, seen, .. } => {
            Some(Nearly { ty: *narrower, misfits: seen - fitting, seen: *seen })
        }
        Spoiler::Form { .. } | Spoiler::Inputs { .. } => None,
    }
}

/// The types that columns keep although not all of their values are of them: for each field the type, or `None`. The columns with the
/// fewest bad values come first, and all together, with the rows that are bad whatever their type, have no more than the limit allows,
/// which counts all rows whether a column has values in them or not; each has more good ones than bad ones.
fn kept(
    limit: RejectLimit,
    source: &SourceFacts,
    fields: &[FieldFacts],
    is_open: impl Fn(&&FieldFacts) -> bool,
) -> Vec<Option<Type>> {
    let mut kept = vec![None; fields.len()];
    let candidate = |(at, field): (usize, &FieldFacts)| {
        let is_text = field.ty == Type::Text && is_open(&field);
        Some((at, nearly(field.spoiler.as_ref().filter(|_| is_text)?)?))
    };
    let mut candidates: Vec<(usize, Nearly)> =
        fields.iter().enumerate().filter_map(candidate).collect();
    candidates.sort_by_key(|(_, nearly)| nearly.misfits);
    let mut spent = source.rows_bad;
    for (at, Nearly { ty, misfits, seen }) in candidates {
        let is_most = misfits * 2 < seen;
        if is_most && !limit.exceeded(spent + misfits, source.rows_seen.max(seen), true) {
            spent += misfits;
            kept[at] = Some(ty);
        }
    }
    kept
}

/// What a type that a column keeps costs.
fn price(field: &FieldFacts, ty: Type, limit: RejectLimit) -> Option<String> {
    let spoiler = field.spoiler.as_ref()?;
    let Nearly { misfits, seen, .. } = nearly(spoiler)?;
    let name = &field.name;
    let misfit = match spoiler {
        Spoiler::Null { spellings, .. } => in_quotes(spellings).join(" or "),
        Spoiler::Values { misfit, .. } | Spoiler::Form { misfit, .. } => misfit.to_string(),
        Spoiler::Inputs { .. } => return None,
    };
    let instead = match spoiler {
        Spoiler::Null { spellings, .. } => match spellings.as_slice() {
            [_] => format!("{} reads it as NULL", read_as_null(name, spellings)),
            _ => format!("{} read them as NULL", read_as_null(name, spellings)),
        },
        _ => format!("{} keeps them all, as text", said_of("--type", name, Type::Text)),
    };
    Some(format!(
        "column {name} is {ty}, as --max-rejects {limit} allows: {misfits} of {seen} values seen are not, and their rows are bad, \
         such as {misfit} ({instead})"
    ))
}

/// One sentence for each column that is text for little reason, and one for all that the same spellings of NULL spoil.
fn words<'a>(fields: impl Iterator<Item = &'a FieldFacts>, target: &TargetFacts) -> Vec<String> {
    let mut by_null: Vec<(&[String], Vec<&str>)> = Vec::new();
    let mut hints = Vec::new();
    for field in fields {
        let FieldFacts { name, spoiler, reads, .. } = field;
        let unread = reads.unread.as_ref().filter(|_| reads.is_read);
        // Options for all columns would read the values of a column whose type is named, other ones than those that are of it now.
        let is_made = |ty| Family::of(ty).is_some_and(|own| reads.made.has(own) && !reads.is_read);
        let hint = |column_is: String, advice: Option<String>| match (&reads.proposal, advice) {
            (None, Some(advice)) => format!("{column_is} ({advice})"),
            // What reads all of its values is proposed.
            _ => column_is,
        };
        match spoiler {
            None => {}
            Some(Spoiler::Null { spellings, .. }) => {
                match by_null.iter_mut().find(|(other, _)| other == spellings) {
                    Some((_, columns)) => columns.push(name),
                    None => by_null.push((spellings, vec![name])),
                }
            }
            Some(Spoiler::Values { narrower, fitting, seen, misfit }) => {
                let bad = |said: String| format!("{said} makes such rows bad rows");
                let own = format!("of type {narrower}");
                let (what, advice) = match unread {
                    Some(unread) => {
                        (unread.words.clone(), Some(unread.advice(field.source_name())))
                    }
                    None if is_made(*narrower) => {
                        let way = Family::of(*narrower).and_then(Family::as_written);
                        let said = |(option, way)| said_of(option, field.source_name(), way);
                        (own, way.map(said).map(bad))
                    }
                    None => {
                        let said = said_of("--type", name, narrower);
                        let advice = match is_read_otherwise(*narrower, &misfit.value, target) {
                            true => format!("{said} takes it, but not as it is written"),
                            false => bad(said),
                        };
                        (own, Some(advice))
                    }
                };
                hints.push(hint(
                    format!("column {name} is text: {fitting} of {seen} values seen are {what}, but {misfit} is not"),
                    advice,
                ));
            }
            Some(Spoiler::Form { form, misfit, .. }) => {
                hints.push(format!("column {name} is text: {}", form_words(*form, name, misfit)));
            }
            Some(Spoiler::Inputs { narrower, narrower_in, other, other_in }) => {
                hints.push(format!(
                    "column {name} is text: it is of type {narrower} in {narrower_in}, and of type {other} in {other_in} ({} \
                     makes bad rows of values that are none)",
                    said_of("--type", name, narrower),
                ));
            }
        }
    }
    hints.extend(by_null.iter().map(|(nulls, names)| {
        let (are, there) = if names.len() == 1 { ("is", "") } else { ("are", " there") };
        let columns_are = format!("{} {} {are} text", nouns(names), names.join(", "));
        let (null, it) =
            (in_quotes(nulls).join(" and "), if nulls.len() == 1 { "it" } else { "them" });
        let options: Vec<String> = names.iter().map(|name| read_as_null(name, nulls)).collect();
        let reads = if nulls.len() == 1 { "reads" } else { "read" };
        format!(
            "{columns_are} because of {null}: {} {reads} {it} as NULL{there}",
            options.join(" ")
        )
    }));
    hints
}

fn nouns(names: &[&str]) -> &'static str {
    if names.len() == 1 { "column" } else { "columns" }
}

fn in_quotes(spellings: &[String]) -> Vec<String> {
    spellings.iter().map(|spelling| format!("'{spelling}'")).collect()
}

/// The options that read these spellings as NULL.
fn read_as_null(column: &str, spellings: &[String]) -> String {
    let options = spellings.iter().map(|spelling| said_of("--null", column, spelling));
    options.collect::<Vec<_>>().join(" ")
}

/// Whether a value, shown in quotes, is one of a column that is declared to be of the type, where a guess would not take it: `'007'` is
/// a number, and no longer as it was written.
fn is_read_otherwise(ty: Type, shown: &str, target: &TargetFacts) -> bool {
    let value = shown.trim_matches('\'').as_bytes();
    match ty {
        Type::Integer => rule::long(value, false).is_ok(),
        Type::Float => double::kept(value, false, target.specials).is_ok(),
        Type::Decimal { precision, scale } if target.decimals_are_texts => {
            rule::decimal_text(value, precision, scale).is_ok()
        }
        Type::Decimal { precision, scale } => {
            let fits = |number: Digits<'_>| {
                let (whole, fraction) = number.size();
                let most = i64::from(precision) - i64::from(scale);
                precision == 0 || whole <= most && fraction <= i64::from(scale)
            };
            rule::decimal(value, None, false, "").is_ok_and(fits)
        }
        Type::Boolean => rule::boolean(value, false, target.truths).is_ok(),
        Type::Json => rule::json(value).is_ok(),
        Type::Bytes => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::LoadOptions;
    use crate::plan::Misfit;
    use inrush_core::value::double::Specials;

    fn field(name: &str, spoiler: Option<Spoiler>) -> FieldFacts {
        FieldFacts {
            written: None,
            added: None,
            name: name.to_owned(),
            ty: Type::Text,
            spoiler,
            is_declared: false,
            is_settled: false,
            moments: Default::default(),
            reads: Default::default(),
        }
    }

    fn values(fitting: u64, seen: u64) -> Option<Spoiler> {
        let misfit =
            Misfit { value: "'free'".to_owned(), file: None, line: Some(3), row: None, byte: 9 };
        Some(Spoiler::Values { narrower: Type::Float, fitting, seen, misfit })
    }

    fn null(spellings: &[&str]) -> Option<Spoiler> {
        let spellings = spellings.iter().map(|spelling| (*spelling).to_owned()).collect();
        let narrower = Type::Integer;
        Some(Spoiler::Null { spellings, narrower, fitting: 8, seen: 10 })
    }

    fn types_of(limit: &str, fields: &[FieldFacts]) -> (Vec<(Type, bool)>, Vec<String>) {
        types_among(0, limit, fields)
    }

    fn types_among(
        rows_seen: u64,
        limit: &str,
        fields: &[FieldFacts],
    ) -> (Vec<(Type, bool)>, Vec<String>) {
        let mut hints = Vec::new();
        let max_rejects = limit.parse().unwrap();
        let options = LoadOptions { max_rejects, ..LoadOptions::default() };
        let request = Request { options, ..Request::default() };
        let source = SourceFacts { rows_seen, ..SourceFacts::default() };
        let types = types(&request, (&source, &TargetFacts::default()), fields, &mut hints);
        (types, hints)
    }

    #[test]
    fn bad_rows_that_are_allowed_keep_a_columns_type() {
        let one = || [field("amount", values(2, 3))];
        assert_eq!(types_of("0", &one()).0, [(Type::Text, false)]);
        for limit in ["1", "100", "40%", "all"] {
            let (types, hints) = types_of(limit, &one());
            assert_eq!(types, [(Type::Float, true)], "{limit}");
            assert!(
                hints[0].contains("1 of 3 values seen are not") && hints.len() == 1,
                "{hints:?}"
            );
            assert!(hints[0].contains("'free' (line 3)"), "{hints:?}");
        }
        assert_eq!(types_of("30%", &one()).0, [(Type::Text, false)]);
        // Rows without a value count as well.
        assert_eq!(types_among(100, "1%", &one()).0, [(Type::Float, true)]);
        assert_eq!(types_among(99, "1%", &one()).0, [(Type::Text, false)]);
    }

    #[test]
    fn all_columns_together_have_no_more_bad_rows_than_are_allowed() {
        let two = [field("a", values(7, 10)), field("b", values(9, 10))];
        assert_eq!(types_of("3", &two).0, [(Type::Text, false), (Type::Float, true)]);
        assert_eq!(types_of("4", &two).0, [(Type::Float, true); 2]);
    }

    #[test]
    fn a_column_of_words_with_some_numbers_stays_one_of_words() {
        let words = [field("name", values(5, 10))];
        assert_eq!(types_of("all", &words).0, [(Type::Text, false)]);
    }

    #[test]
    fn what_spoils_columns_is_said_once_for_each_spelling_of_null() {
        let na = || null(&["NA"]);
        let fields = [
            field("id", na()),
            field("a b", na()),
            field("c", null(&["-", ""])),
            field("d", null(&["\"NA\""])),
        ];
        assert_eq!(
            types_of("0", &fields).1,
            [
                "columns id, a b are text because of 'NA': --null id=NA --null 'a b=NA' reads it as NULL there",
                "column c is text because of '-' and '': --null c=- --null c= read them as NULL",
                "column d is text because of '\"NA\"': --null 'd=\"NA\"' reads it as NULL"
            ]
        );
        let (types, hints) = types_of("8", &fields);
        assert_eq!(types, [(Type::Integer, true); 4]);
        for (at, end) in [
            (0, "such as 'NA' (--null id=NA reads it as NULL)"),
            (2, "such as '-' or '' (--null c=- --null c= read them as NULL)"),
            (3, "such as '\"NA\"' (--null 'd=\"NA\"' reads it as NULL)"),
        ] {
            assert!(hints[at].ends_with(end), "{hints:?}");
        }
    }

    #[test]
    fn of_inputs_of_two_types_both_are_named() {
        let [narrower_in, other_in] = ["a.parquet", "b.parquet"].map(str::to_owned);
        let [narrower, other] = [Type::Date, Type::Timestamp { zone: false }];
        let spoiler = Spoiler::Inputs { narrower, narrower_in, other, other_in };
        for limit in ["0", "all"] {
            let (types, hints) = types_of(limit, &[field("a b", Some(spoiler.clone()))]);
            assert_eq!(types, [(Type::Text, false)], "{limit}");
            assert_eq!(
                hints,
                [
                    "column a b is text: it is of type date in a.parquet, and of type timestamp in b.parquet (--type 'a b=date' makes bad \
                     rows of values that are none)"
                ]
            );
        }
    }

    #[test]
    fn a_declared_type_may_take_what_a_guess_does_not() {
        let said = |value: &str, narrower| {
            let misfit = Misfit {
                value: format!("'{value}'"),
                file: None,
                line: Some(3),
                row: None,
                byte: 9,
            };
            let spoiler = Spoiler::Values { narrower, fitting: 2, seen: 3, misfit };
            types_of("0", &[field("a", Some(spoiler))]).1.remove(0)
        };
        let decimal = Type::Decimal { precision: 20, scale: 0 };
        for (value, ty) in
            [("007", Type::Integer), ("+4.5", Type::Float), ("1", Type::Boolean), ("1e5", decimal)]
        {
            let said = said(value, ty);
            assert!(said.ends_with("takes it, but not as it is written)"), "{said}");
        }
        for (value, ty) in [
            ("x", Type::Integer),
            ("1,5", Type::Float),
            ("2", Type::Boolean),
            ("1e20", decimal),
            ("0.5", decimal),
        ] {
            let said = said(value, ty);
            assert!(said.ends_with("makes such rows bad rows)"), "{said}");
        }
    }

    #[test]
    fn what_is_no_number_is_a_float_where_the_target_has_such() {
        for (specials, taken) in [
            (Specials::None, [false, false]),
            (Specials::Infinities, [true, false]),
            (Specials::All, [true, true]),
        ] {
            let target = TargetFacts { specials, ..TargetFacts::default() };
            let is_taken = |value| is_read_otherwise(Type::Float, value, &target);
            assert_eq!(["'inf'", "'nan'"].map(is_taken), taken, "{specials:?}");
        }
    }

    #[test]
    fn a_decimal_that_is_kept_as_text_is_written_as_one() {
        let decimal = Type::Decimal { precision: 20, scale: 2 };
        let texts = TargetFacts { decimals_are_texts: true, ..TargetFacts::default() };
        for (value, as_text) in
            [("'7.50'", true), ("'007.5'", false), ("'1e5'", false), ("'+1'", false)]
        {
            assert!(is_read_otherwise(decimal, value, &TargetFacts::default()), "{value}");
            assert_eq!(is_read_otherwise(decimal, value, &texts), as_text, "{value}");
        }
    }
}
