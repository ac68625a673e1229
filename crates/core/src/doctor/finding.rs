//! What a rule has found.

use serde::Serialize;

/// How bad it is; the worst comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Rows can be lost, or be wrong, after a crash or without a word.
    Risk,
    /// Loads take longer than this machine allows.
    Slow,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// As JSON has it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Risk => "risk",
            Self::Slow => "slow",
            Self::Note => "note",
        }
    }
}

/// A setting, a table or a file that is not as it should be. Serializes to what `doctor --json` prints, whose keys are stable.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The setting's own name, or the rule's.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What it is about: the server, a table, an index, a file.
    pub object: String,
    /// What it is.
    pub is: String,
    /// What it should be.
    pub should: String,
    /// Why.
    pub why: &'static str,
    /// The page of the manual that says so.
    pub source: &'static str,
    /// What changes it: statements that run as they are, in this order, on one connection.
    pub statements: Vec<String>,
    /// Lines of the server's configuration file that change it, or make the change last.
    pub file_lines: Vec<String>,
    /// Whether the server has to be started again before it counts.
    pub restart: bool,
    /// What the change itself risks or costs.
    pub risk: &'static str,
    /// What the change is worth.
    pub worth: Worth,
    /// How a private server gets the change.
    #[serde(skip)]
    pub trial: Option<Trial>,
}

/// What a change is worth: the rate of a load with it, divided by the rate as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Worth {
    /// The median of pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// The lower end of its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Whether it was measured.
    pub measured: bool,
}

/// How the change is tried out elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trial {
    /// A server started with these settings instead of its own.
    Settings(Vec<(String, String)>),
    /// The same; but what they are worth shows with all of the load only, not with its beginning.
    Sizes(Vec<(String, String)>),
    /// The finding's statements, run on a copy of what they are about; a table's name, where that is one table.
    Statements(Option<String>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_measured_has_no_ratio() {
        let json = |worth: Worth| serde_json::to_string(&worth).unwrap();
        assert_eq!(json(Worth::default()), r#"{"measured":false}"#);
        let measured = Worth { ratio: Some(1.5), low: Some(1.25), high: Some(2.0), measured: true };
        assert_eq!(json(measured), r#"{"ratio":1.5,"low":1.25,"high":2.0,"measured":true}"#);
    }
}
