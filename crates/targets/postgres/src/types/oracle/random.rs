//! Values that nobody thought of: listed ones with a few things changed, and others written as they should be.

/// Random enough.
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.rotate_left(23)
    }

    fn below(&mut self, end: usize) -> usize {
        self.next() as usize % end.max(1)
    }

    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len())]
    }

    /// A number of any length up to so many digits.
    fn digits(&mut self, max: usize) -> String {
        let count = self.below(max + 1);
        // Zeros and nines are where carries and groups go wrong.
        let digits = self.one_of(&["0123456789", "0123456789", "09", "0000001"]).as_bytes();
        (0..count).map(|_| char::from(digits[self.below(digits.len())])).collect()
    }

    /// One of the values with a few things changed in it.
    pub(super) fn mutated(&mut self, values: &[String]) -> String {
        let mut text: Vec<char> = values[self.below(values.len())].chars().collect();
        for _ in 0..=self.below(3) {
            let at = self.below(text.len() + 1);
            let len = self.below(3).min(text.len() - at);
            match self.below(5) {
                0 => drop(text.drain(at..at + len)),
                1 => {
                    let piece: Vec<char> = text[at..at + len].into();
                    let _ = text.splice(at..at, piece);
                }
                2 => {
                    let other: Vec<char> = values[self.below(values.len())].chars().collect();
                    let start = self.below(other.len() + 1);
                    let end = start + self.below(other.len() - start + 1);
                    let _ = text.splice(at..at + len, other[start..end].iter().copied());
                }
                kind => {
                    let alphabet: &[u8] = if kind == 3 {
                        b"0123456789"
                    } else {
                        b"09159-+.:eETZ /{}[]\"\\,'abxfPDN=\t@"
                    };
                    let byte = alphabet[self.below(alphabet.len())];
                    let _ = text.splice(at..at + len.min(1), [char::from(byte)]);
                }
            }
        }
        text.into_iter().collect()
    }

    /// A value as such a type's are written.
    pub(super) fn written(&mut self, declared: &str, values: &[String]) -> String {
        let declared = declared.split_once(" = ").map_or(declared, |(_, under)| under);
        if let Some(element) = declared.strip_suffix("[]") {
            return self.array(element, values);
        }
        match declared.split(['(', ' ']).next().unwrap_or_default() {
            "smallint" | "integer" | "bigint" | "oid" => {
                let shift = self.below(64);
                ((self.next() as i64) >> shift).to_string()
            }
            "real" => self.single(),
            "double" if self.below(2) == 0 => {
                let number = f64::from_bits(self.next());
                if self.below(2) == 0 { format!("{number:e}") } else { number.to_string() }
            }
            "numeric" | "double" => self.number(),
            "date" => self.day(),
            "timestamp" => self.moment(),
            "time" => self.time(),
            "interval" => self.interval(),
            "uuid" => format!("{:016x}-{:016x}", self.next(), self.next()),
            "bit" => format!("{:b}", self.next() >> self.below(64)),
            "bytea" => format!("\\x{:016x}", self.next()),
            "macaddr" | "macaddr8" => {
                let bytes = self.next().to_be_bytes();
                let len = if declared == "macaddr" { 6 } else { 8 };
                bytes[..len].iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
            }
            "inet" | "cidr" => self.address(),
            _ => values[self.below(values.len())].clone(),
        }
    }

    fn number(&mut self) -> String {
        let (whole, fraction) = (self.digits(20), self.digits(20));
        let exponent = match self.below(4) {
            0 => format!("e{}", self.below(60) as i32 - 30),
            _ => String::new(),
        };
        let point = self.one_of(&[".", ".", ""]);
        let fraction = if point.is_empty() { "" } else { &fraction };
        format!("{}{whole}{point}{fraction}{exponent}", self.one_of(&["", "-", "+"]))
    }

    /// Singles, and the middles between two of them with next to nothing added.
    fn single(&mut self) -> String {
        let bits = self.next() as u32 & 0x7fff_ffff;
        // Most as large as a few digits write them.
        let bits = if self.below(4) > 0 { 0x3a80_0000 + bits % 0x0c00_0000 } else { bits };
        let (number, next) = (f32::from_bits(bits), f32::from_bits(bits + 1));
        let middle = f64::midpoint(f64::from(number), f64::from(next));
        match self.below(5) {
            0 => number.to_string(),
            1 => middle.to_string(),
            2 => format!("{middle}{}1", if middle.fract() == 0.0 { ".0" } else { "" }),
            3 => format!("{middle:.8}"),
            _ => self.number(),
        }
    }

    fn day(&mut self) -> String {
        let length = 1 + self.below(7);
        let year = 1 + self.below(10_usize.pow(length as u32));
        let era = if self.below(6) == 0 { " BC" } else { "" };
        format!("{year:04}-{:02}-{:02}{era}", 1 + self.below(12), 1 + self.below(31))
    }

    fn clock(&mut self) -> String {
        let mut clock = format!("{:02}:{:02}", self.below(25), self.below(60));
        if self.below(4) > 0 {
            clock += &format!(":{:02}", self.below(60));
            let fraction = self.digits(8);
            if !fraction.is_empty() {
                clock += &format!(".{fraction}");
            }
        }
        clock
    }

    fn offset(&mut self) -> String {
        let offset = format!("{:02}:{:02}:{:02}", self.below(17), self.below(60), self.below(60));
        let offset = &offset[..[2, 5, 8][self.below(3)]];
        let space = self.one_of(&["", " "]);
        match self.below(5) {
            0 => "Z".to_owned(),
            1 => format!("{space}+{offset}"),
            2 => format!("{space}-{offset}"),
            3 => format!("+{}", offset.replace(':', "")),
            _ => String::new(),
        }
    }

    fn moment(&mut self) -> String {
        let day = self.day();
        let (day, era) = day.split_at(day.find(" BC").unwrap_or(day.len()));
        let separator = self.one_of(&[" ", "T"]);
        format!("{day}{separator}{}{}{era}", self.clock(), self.offset())
    }

    fn time(&mut self) -> String {
        format!("{}{}", self.clock(), self.offset())
    }

    fn interval(&mut self) -> String {
        const UNITS: &[&str] = &[
            "us",
            "microseconds",
            "ms",
            "msecs",
            "sec",
            "seconds",
            "s",
            "min",
            "mins",
            "h",
            "hours",
            "hr",
            "d",
            "days",
            "day",
            "w",
            "weeks",
            "mon",
            "mons",
            "months",
            "y",
            "years",
            "yr",
            "dec",
            "decades",
            "c",
            "century",
            "mil",
            "millennium",
        ];
        if self.below(3) == 0 {
            let mut text = "P".to_owned();
            for designator in ["Y", "M", "W", "D", "T", "H", "M", "S"] {
                if designator == "T" {
                    text += "T";
                } else if self.below(2) == 0 {
                    let fraction = if designator == "S" { self.digits(7) } else { String::new() };
                    let point = if fraction.is_empty() { "" } else { "." };
                    let sign = self.one_of(&["", "", "-"]);
                    text += &format!("{sign}{}{point}{fraction}{designator}", self.below(2000));
                }
            }
            return text.trim_end_matches('T').to_owned();
        }
        let mut parts = Vec::new();
        if self.below(5) == 0 {
            parts.push("@".to_owned());
        }
        for _ in 0..self.below(4) {
            let sign = self.one_of(&["", "", "-", "+"]);
            let length = self.below(7);
            let count = self.below(10_usize.pow(length as u32));
            let space = self.one_of(&[" ", ""]);
            parts.push(format!("{sign}{count}{space}{}", self.one_of(UNITS)));
        }
        if self.below(2) == 0 {
            parts.push(format!("{}{}", self.one_of(&["", "-", "+"]), self.clock()));
        }
        if self.below(5) == 0 {
            parts.push("ago".to_owned());
        }
        parts.join(" ")
    }

    fn address(&mut self) -> String {
        let bits = self.below(140);
        // Networks end in zeros.
        let mask = if self.below(2) == 0 {
            u128::MAX
        } else {
            !(u128::MAX.checked_shr(bits as u32).unwrap_or(0))
        };
        let number = u128::from_be_bytes(
            [self.next().to_be_bytes(), self.next().to_be_bytes()].concat().try_into().unwrap(),
        );
        let sparse = number & u128::from(self.next()) << self.below(80) & mask;
        let slash = if self.below(2) == 0 { format!("/{bits}") } else { String::new() };
        match self.below(2) {
            0 => format!("{}{slash}", std::net::Ipv6Addr::from(sparse)),
            _ => format!(
                "{}{slash}",
                std::net::Ipv4Addr::from(
                    (number & mask).to_be_bytes().first_chunk::<4>().copied().unwrap()
                )
            ),
        }
    }

    /// An array of any shape, now and then with a hole in it.
    fn array(&mut self, element: &str, values: &[String]) -> String {
        let sizes: Vec<usize> = (0..=self.below(3)).map(|_| 1 + self.below(3)).collect();
        let mut text = String::new();
        if self.below(4) == 0 {
            for size in &sizes {
                let lower = self.below(20) as i32 - 10;
                text += &format!("[{lower}:{}]", lower + *size as i32 - 1);
            }
            text += "=";
        }
        self.braces(&sizes, element, values, &mut text);
        text
    }

    fn braces(&mut self, sizes: &[usize], element: &str, values: &[String], text: &mut String) {
        let Some((size, inner)) = sizes.split_first() else {
            let value = match self.below(6) {
                0 => return text.push_str("NULL"),
                1 => return text.push_str("\"\""),
                _ if element == "text" || element.starts_with("char") => self.digits(4),
                _ => self.written(element, values),
            };
            let is_bare = !value.is_empty() && !value.contains(['{', '}', ',', '"', '\\']);
            if is_bare && self.below(2) == 0 {
                text.push_str(&value);
            } else {
                let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
                text.push_str(&format!("\"{escaped}\""));
            }
            return;
        };
        let size = size + usize::from(self.below(30) == 0);
        text.push('{');
        for at in 0..size {
            text.push_str(if at > 0 { "," } else { "" });
            text.push_str(self.one_of(&["", "", " "]));
            self.braces(inner, element, values, text);
        }
        text.push('}');
    }
}
