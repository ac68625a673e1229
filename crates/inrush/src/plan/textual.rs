//! Columns of numbers that become text, and why: nobody shall find out from the order of his prices.

use crate::plan::{Column, FieldFacts, Form, Inference, Plan, Spoiler, Type};
use inrush_core::reading::is_alike;
use inrush_core::wording::said_of;

impl Plan {
    /// One sentence for each column that is of a type which the table to be made has not, so that it holds text. What the user has
    /// said of a column, he knows.
    pub(super) fn textual(&self) -> Vec<String> {
        let found = self.facts.target.table.as_ref();
        let is_made =
            self.choice.action.makes_table() || found.is_some_and(|table| table.takes_any);
        if !is_made || self.request.inference == Inference::Text {
            return Vec::new();
        }
        let columns = self.choice.columns.iter().zip(&self.choice.fields);
        columns
            .filter(|(column, _)| !self.request.types.keys().any(|name| is_name(name, column)))
            .filter(|(column, _)| self.becomes_text(column))
            .map(|(column, field)| self.text_words(column, &self.facts.source.fields[*field]))
            .collect()
    }

    /// Whether the engine has the same for a column of decimals as for one of text, though it has numbers. Moments are texts where a knob
    /// makes them so, and else by [`inrush_core::MomentLimits`].
    fn becomes_text(&self, column: &Column) -> bool {
        let spelled = |ty| self.target.spell(&Column { ty, ..column.clone() }, &self.job);
        let text = spelled(Type::Text);
        column.declared.is_none()
            && matches!(column.ty, Type::Decimal { .. })
            && spelled(column.ty) == text
            && spelled(Type::Integer) != text
    }

    fn text_words(&self, column: &Column, field: &FieldFacts) -> String {
        let Column { name, ty, .. } = column;
        let engine = &self.facts.target.engine;
        match &field.spoiler {
            Some(Spoiler::Form { form, misfit, .. }) => {
                format!("column {name} is text: {}", form_words(*form, name, misfit))
            }
            Some(Spoiler::Values { narrower: Type::Float, misfit, .. }) => format!(
                "column {name} is text: {engine} has no {ty}, and {misfit} has more digits than a double keeps \
                 ({} rounds fractions, and makes rows bad rows whose whole number would be another)",
                said_of("--type", name, Type::Float)
            ),
            // A --type says already how its values are read.
            _ if self.request.read.type_of(field).is_some() => format!(
                "column {name} is text: it is of type {ty}, of which {engine} keeps all digits as text only"
            ),
            _ => format!(
                "column {name} is text: it is of type {ty}, of which {engine} keeps all digits as text only ({})",
                match ty {
                    // As a double such a number would be another one.
                    Type::Decimal { precision: 1.., scale: 0 } => format!(
                        "{} makes rows bad rows whose number is beyond 64 bits",
                        said_of("--type", name, Type::Integer)
                    ),
                    _ => format!(
                        "{} makes numbers of the values",
                        said_of("--type", name, Type::Float)
                    ),
                }
            ),
        }
    }
}

/// What is so odd about a value of the column, and what to say where it is a number all the same.
pub(super) fn form_words(form: Form, column: &str, misfit: &impl std::fmt::Display) -> String {
    let as_float = said_of("--type", column, Type::Float);
    match form {
        Form::Odd => format!(
            "{misfit} is written otherwise than the whole numbers beside it ({as_float} makes numbers of all)"
        ),
        Form::Padded => format!(
            "{misfit} ends in a zero, and other values have another number of digits behind the point, as versions \
             do ({as_float} makes numbers of all)"
        ),
    }
}

fn is_name(name: &str, column: &Column) -> bool {
    is_alike(name, &column.name)
}
