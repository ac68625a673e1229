//! Spellings of NULL: for all columns, or for one.

use crate::reading::is_alike;

/// What is NULL in which of some columns, besides what the input's format says by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nulls {
    /// In every column.
    everywhere: Vec<Vec<u8>>,
    /// In one column: its place, and the spelling.
    in_one: Vec<(usize, Vec<u8>)>,
}

impl Nulls {
    /// What `--null` was given, one entry each. `COLUMN=S` is the spelling S of one column; where nothing before an `=` is a column, the
    /// whole is a spelling of all. A column's name may be the one that any of `names` has at its place, of which the earlier ones are
    /// looked through first; names that differ in case only are told apart where both are there, and of names with an `=` of their own
    /// the longest counts.
    pub fn of(said: &[String], names: &[Vec<&str>]) -> Self {
        let mut nulls = Self::default();
        for text in said {
            match in_one(text, names) {
                Some((column, spelling)) => nulls.in_one.push((column, spelling.into())),
                None => nulls.everywhere.push(text.clone().into()),
            }
        }
        nulls
    }

    /// What `--null` was given that may be meant for a column which is not among these: its name, and the whole.
    pub fn of_none<'s>(
        said: &'s [String],
        names: &[Vec<&str>],
    ) -> impl Iterator<Item = (&'s str, &'s str)> {
        let is_of_none = |text: &&String| in_one(text, names).is_none();
        let named = |text: &'s String| Some((text.split_once('=')?.0, text.as_str()));
        said.iter().filter(is_of_none).filter_map(named).filter(|(name, _)| !name.is_empty())
    }

    /// The same where each column stands at another place: at the one that `places` has for it.
    #[must_use]
    pub fn moved(mut self, places: &[usize]) -> Self {
        self.in_one.iter_mut().for_each(|(column, _)| *column = places[*column]);
        self
    }

    /// Whether there is none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.everywhere.is_empty() && self.in_one.is_empty()
    }

    /// Whether there is one that is not for all columns.
    pub fn are_for_columns(&self) -> bool {
        !self.in_one.is_empty()
    }

    /// The spellings that hold in a column.
    #[inline]
    pub fn of_column(&self, column: usize) -> impl Iterator<Item = &[u8]> {
        let own = self.in_one.iter().filter(move |(at, _)| *at == column);
        self.everywhere.iter().map(Vec::as_slice).chain(own.map(|(_, null)| null.as_slice()))
    }
}

/// The column that a spelling of NULL is for, and the spelling; `None` where it is for all.
fn in_one<'t>(text: &'t str, names: &[Vec<&str>]) -> Option<(usize, &'t str)> {
    text.rmatch_indices('=').find_map(|(at, _)| {
        let (name, spelling) = (&text[..at], &text[at + 1..]);
        let exact = |names: &Vec<&str>| names.iter().position(|other| *other == name);
        let alike = |names: &Vec<&str>| names.iter().position(|other| is_alike(other, name));
        let find = |names| exact(names).or_else(|| alike(names));
        Some((names.iter().find_map(find)?, spelling))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(said: &[&str], names: &[&str]) -> Vec<Vec<String>> {
        let said: Vec<String> = said.iter().map(|text| (*text).to_owned()).collect();
        let nulls = Nulls::of(&said, &[names.to_vec()]);
        let text = |null: &[u8]| String::from_utf8(null.to_vec()).unwrap();
        (0..names.len()).map(|column| nulls.of_column(column).map(text).collect()).collect()
    }

    #[test]
    fn a_spelling_is_for_a_column_where_there_is_one_of_its_name() {
        assert_eq!(of(&["NA"], &["a", "b"]), [["NA"], ["NA"]]);
        assert_eq!(of(&["a=NA", "b="], &["a", "b"]), [["NA"], [""]]);
        assert_eq!(of(&["A=x=y"], &["a", "b"]), [vec!["x=y"], vec![]]);
        assert_eq!(of(&["c=NA", "="], &["a", "b"]), [["c=NA", "="], ["c=NA", "="]]);
        assert_eq!(of(&["A=-", "a=+"], &["a", "A"]), [["+"], ["-"]]);
        assert_eq!(of(&["a=b=NA", "a=c=NA"], &["a", "a=b"]), [["c=NA"], ["NA"]]);
        assert_eq!(of(&["GRÖßE=1"], &["Größe"]), [["1"]]);
    }

    #[test]
    fn a_column_may_go_by_several_names() {
        let nulls = Nulls::of(&["city=-".to_owned()], &[vec!["column_1"], vec!["city"]]);
        assert!(nulls.are_for_columns());
        assert_eq!(nulls.of_column(0).collect::<Vec<_>>(), [b"-"]);
    }
}
