//! Number formats (ECMA-376, part 1, 18.8.31): those with conditions, `[=0]"";dd/mm/yyyy`, of which `calamine` looks at the first section
//! only, and those with times of day, which it does not tell from those of days alone.

/// What a number is shown as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shown {
    #[default]
    Number,
    /// A day.
    Day,
    /// A moment or a time of day.
    Moment,
    Duration,
}

/// A format that shows days, and says more than that its first section does.
#[derive(Clone, Debug)]
pub(crate) struct NumberFormat {
    sections: Vec<Section>,
}

/// One way to show a number, and for which.
#[derive(Clone, Debug, Default)]
struct Section {
    condition: Option<(String, f64)>,
    shown: Shown,
    /// Not for numbers.
    is_of_text: bool,
}

impl NumberFormat {
    /// The format of this code, if it shows times of day, or days under conditions.
    pub(crate) fn of(code: &str) -> Option<Self> {
        let format = Self::read(code);
        let has_days = format.sections.iter().any(|section| section.shown != Shown::Number);
        let shown = format.first();
        (format.is_conditional() && has_days || shown == Shown::Moment).then_some(format)
    }

    /// Whether the format of this code shows days, and never a time of day.
    pub(crate) fn is_of_days(code: &str) -> bool {
        let format = Self::read(code);
        !format.is_conditional() && format.first() == Shown::Day
    }

    /// What a format that has a number and no code (18.8.30) shows, as a code, if it shows days. Some numbers are days in one language, and
    /// times of day in another.
    pub(crate) fn code(id: u16) -> Option<&'static str> {
        match id {
            18..=22 | 32 | 33 => Some("h:mm"),
            45 | 47 => Some("mm:ss"),
            14..=17 | 27..=31 | 34..=36 | 50..=58 => Some("d"),
            _ => None,
        }
    }

    /// Whether its first section is for some numbers only.
    pub(crate) fn is_conditional(&self) -> bool {
        self.sections.first().is_some_and(|first| first.condition.is_some())
    }

    fn first(&self) -> Shown {
        self.sections.first().map(|first| first.shown).unwrap_or_default()
    }

    fn read(code: &str) -> Self {
        let mut sections = vec![Section::default()];
        let mut chars = code.chars();
        while let (Some(c), Some(section)) = (chars.next(), sections.last_mut()) {
            match c {
                // The next one stands for itself, for its width, or for what fills up a cell.
                '\\' | '_' | '*' => drop(chars.next()),
                '"' => drop(chars.by_ref().find(|c| *c == '"')),
                '[' => {
                    section.bracket(&chars.by_ref().take_while(|c| *c != ']').collect::<String>())
                }
                ';' => sections.push(Section::default()),
                '@' => section.is_of_text = true,
                'h' | 'H' | 's' | 'S' => section.show(Shown::Moment),
                _ if "dmy".contains(c.to_ascii_lowercase()) => section.show(Shown::Day),
                _ => {}
            }
        }
        sections.retain(|section| !section.is_of_text);
        Self { sections }
    }

    /// What this number is shown as: by the first section whose condition it meets, or that has none.
    pub(crate) fn shown(&self, number: f64) -> Shown {
        let is_met = |section: &&Section| match &section.condition {
            None => true,
            Some((is, other)) => match is.as_str() {
                "=" => number == *other,
                "<>" => number != *other,
                "<" => number < *other,
                "<=" => number <= *other,
                ">" => number > *other,
                _ => number >= *other,
            },
        };
        self.sections.iter().find(is_met).map(|section| section.shown).unwrap_or_default()
    }
}

impl Section {
    /// The first sign decides, but a day with a time of day is a moment.
    fn show(&mut self, shown: Shown) {
        if matches!((self.shown, shown), (Shown::Number, _) | (Shown::Day, Shown::Moment)) {
            self.shown = shown;
        }
    }

    /// What stands in brackets is a condition, a duration in one unit, or of no interest: a colour, a language.
    fn bracket(&mut self, inside: &str) {
        let number = inside.trim_start_matches(['<', '=', '>']);
        let is = &inside[..inside.len() - number.len()];
        if let (true, Ok(number)) = (!is.is_empty(), number.trim().parse()) {
            self.condition = Some((is.to_owned(), number));
        } else if ["h", "m", "s"].iter().any(|unit| {
            !inside.is_empty()
                && inside.to_ascii_lowercase().trim_matches(|c| unit.contains(c)).is_empty()
        }) {
            self.show(Shown::Duration);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_whose_condition_a_number_meets_shows_it() {
        use Shown::{Day, Duration, Moment, Number};
        for (code, day, zero) in [
            ("[=0]\"\";dd/mm/yyyy", Day, Number),
            ("[=0]\"day\";[$-409]d\\-mmm\\-yy;@", Day, Number),
            ("[<1]h:mm;dd/mm/yyyy", Day, Moment),
            ("[<1][h]:mm;[Red]dd/mm/yyyy", Day, Duration),
            ("[>=1]dd/mm/yyyy h:mm;0.00", Moment, Number),
            ("[>1e9]0;[<=0]\"none\";[hh]:mm", Duration, Number),
            ("[<>0]yyyy;General", Day, Number),
            ("yyyy\\-mm\\-dd\\ hh:mm;@", Moment, Moment),
            ("mm:ss.0", Moment, Moment),
        ] {
            let format = NumberFormat::of(code).expect(code);
            assert_eq!((format.shown(45_292.0), format.shown(0.0)), (day, zero), "{code}");
        }
        // What its first section says is known without.
        for code in
            ["", "General", "dd/mm/yyyy", "[h]:mm", "[=0]\"-\";0.00", "0;[Red]-0", "[Red]d;0"]
        {
            assert!(NumberFormat::of(code).is_none(), "{code}");
        }
        for (code, is_of_days) in
            [("d\\.m\\.yy", true), ("[$-409]mmm yyyy", true), ("d h", false), ("0.0", false)]
        {
            assert_eq!(NumberFormat::is_of_days(code), is_of_days, "{code}");
        }
    }
}
