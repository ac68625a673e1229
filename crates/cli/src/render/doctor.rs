//! What the doctor has found, for people.

use std::fmt::Write as _;

use inrush::doctor::{Diagnosis, Finding, Severity, Worth};

use super::counted;

/// Each severity and its heading.
const SEVERITIES: [(Severity, &str); 3] =
    [(Severity::Risk, "data at risk"), (Severity::Slow, "slow"), (Severity::Note, "notes")];

/// Findings by severity, each with what changes it; with `risks_only` no others.
pub(crate) fn diagnosis(diagnosis: &Diagnosis, risks_only: bool) -> String {
    let mut out = String::new();
    if !risks_only {
        let _ = writeln!(
            out,
            "{} at {}: {}, in {:.2} s",
            diagnosis.version,
            diagnosis.target,
            summary(diagnosis),
            diagnosis.seconds
        );
        for (name, value) in &diagnosis.facts {
            let _ = writeln!(out, "  {name}: {value}");
        }
    }
    for (severity, heading) in SEVERITIES {
        let mut found = diagnosis.findings.iter().filter(|found| found.severity == severity);
        if risks_only && severity != Severity::Risk {
            break;
        }
        let Some(first) = found.next() else { continue };
        let _ = writeln!(out, "\n{heading}");
        std::iter::once(first).chain(found).for_each(|found| out.push_str(&finding(found)));
    }
    if !diagnosis.not_known.is_empty() && !risks_only {
        let _ = writeln!(out, "\nnot known");
        for what in &diagnosis.not_known {
            let _ = writeln!(out, "  {what}");
        }
    }
    out
}

fn summary(diagnosis: &Diagnosis) -> String {
    let count = |wanted| {
        diagnosis.findings.iter().filter(|finding| finding.severity == wanted).count() as u64
    };
    let found = SEVERITIES.map(|(severity, ..)| (severity, count(severity)));
    let parts = found.into_iter().filter(|&(_, number)| number > 0);
    let parts: Vec<String> = parts
        .map(|(severity, number)| match severity {
            Severity::Slow => format!("{number} slow"),
            other => counted(number, other.word()),
        })
        .collect();
    if parts.is_empty() { "nothing to change".to_owned() } else { parts.join(", ") }
}

fn finding(finding: &Finding) -> String {
    let mut out = String::new();
    let Finding { id, object, is, should, why, .. } = finding;
    let _ = writeln!(out, "  {id}, {object}\n    is:     {is}\n    should: {should}");
    let _ = writeln!(out, "    why:    {why}");
    for statement in &finding.statements {
        // A command of MongoDB's is a document.
        let end = if statement.starts_with('{') { "" } else { ";" };
        let _ = writeln!(out, "    run:    {statement}{end}");
    }
    for line in &finding.file_lines {
        let _ = writeln!(out, "    file:   {line}");
    }
    if finding.restart {
        let _ = writeln!(out, "            and restart the server");
    }
    let _ = writeln!(out, "    risks:  {}", finding.risk);
    if let Worth { ratio: Some(ratio), low: Some(low), high: Some(high), .. } = finding.worth {
        let _ = writeln!(out, "    worth:  {ratio:.2} times the rate, {low:.2} to {high:.2}");
    } else if finding.severity == Severity::Slow {
        let _ = writeln!(out, "    worth:  not measured");
    }
    let _ = writeln!(out, "    see:    {}", finding.source);
    out
}
