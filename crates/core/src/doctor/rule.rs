//! Rules as data, and the functions that look.

use super::finding::{Finding, Severity, Trial, Worth};

/// What is looked for, and why. One setting may have several rules, of different severities, of which at most one finds something.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The setting's own name, or the rule's.
    pub id: &'static str,
    /// How bad it is where the rule finds something.
    pub severity: Severity,
    /// What is read, for the documentation.
    pub reads: &'static str,
    /// The threshold: when the rule finds something.
    pub finds: &'static str,
    /// Why that is bad.
    pub why: &'static str,
    /// The page of the manual that says so.
    pub source: &'static str,
    /// How it is changed, for the documentation.
    pub change: &'static str,
    /// What the change risks or costs.
    pub risk: &'static str,
}

/// A rule with the function that looks; `S` is what an engine has read.
pub struct Check<S: 'static> {
    /// The rule.
    pub rule: Rule,
    /// What it finds, each object once.
    pub look: fn(&S) -> Vec<Found>,
}

/// What a look has found of one object.
#[derive(Clone, Debug, Default)]
pub struct Found {
    object: String,
    is: String,
    should: String,
    statements: Vec<String>,
    file_lines: Vec<String>,
    restart: bool,
    trial: Option<Trial>,
}

impl Found {
    /// An object, what it is, and what it should be.
    pub fn new(
        object: impl Into<String>,
        is: impl Into<String>,
        should: impl Into<String>,
    ) -> Self {
        Self { object: object.into(), is: is.into(), should: should.into(), ..Self::default() }
    }

    /// Another statement that is part of the change.
    pub fn statement(mut self, sql: impl Into<String>) -> Self {
        self.statements.push(sql.into());
        self
    }

    /// Another line of the server's configuration file.
    pub fn line(mut self, line: impl Into<String>) -> Self {
        self.file_lines.push(line.into());
        self
    }

    /// It counts when the server has been started again.
    pub fn after_restart(mut self) -> Self {
        self.restart = true;
        self
    }

    /// A private server gets the change by starting with this setting.
    pub fn tried_with(mut self, name: &str, value: impl Into<String>) -> Self {
        let setting = (name.to_owned(), value.into());
        match &mut self.trial {
            Some(Trial::Settings(settings)) => settings.push(setting),
            trial => *trial = Some(Trial::Settings(vec![setting])),
        }
        self
    }

    /// What the change is worth shows with all of the load only.
    pub fn for_all_of_it(mut self) -> Self {
        self.trial = match self.trial {
            Some(Trial::Settings(settings)) => Some(Trial::Sizes(settings)),
            other => other,
        };
        self
    }

    /// A copy of the table's definition gets the change by the statements; of the database, where it is about no table.
    pub fn tried_on(mut self, table: Option<&str>) -> Self {
        self.trial = Some(Trial::Statements(table.map(str::to_owned)));
        self
    }

    fn by(self, rule: &Rule) -> Finding {
        Finding {
            id: rule.id,
            severity: rule.severity,
            object: self.object,
            is: self.is,
            should: self.should,
            why: rule.why,
            source: rule.source,
            statements: self.statements,
            file_lines: self.file_lines,
            restart: self.restart,
            risk: rule.risk,
            worth: Worth::default(),
            trial: self.trial,
        }
    }
}

/// What the checks find in what was read: the worst first, else in the checks' order.
pub fn apply<S>(checks: &'static [Check<S>], seen: &S) -> Vec<Finding> {
    let found = |check: &'static Check<S>| {
        (check.look)(seen).into_iter().map(|found| found.by(&check.rule))
    };
    let mut findings: Vec<Finding> = checks.iter().flat_map(found).collect();
    findings.sort_by_key(|finding| finding.severity);
    findings
}
