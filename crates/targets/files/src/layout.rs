//! Which of a load's columns stands where in the file.

use inrush_core::Job;

/// The columns of the file, in its order.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) columns: Vec<LayoutColumn>,
}

/// A column of the file.
#[derive(Clone, Debug)]
pub(super) struct LayoutColumn {
    pub(super) name: String,
    /// The load's column that it takes values from; NULL without one.
    pub(super) from: Option<usize>,
}

impl Layout {
    pub(super) fn of(job: &Job) -> Self {
        let loaded = &job.choice.columns;
        let there = job.facts.target.table.as_ref().filter(|_| !job.choice.action.makes_table());
        let names: Vec<&String> = match there {
            Some(table) => table.columns.iter().map(|column| &column.name).collect(),
            None => loaded.iter().map(|column| &column.name).collect(),
        };
        let columns = names
            .into_iter()
            .map(|name| LayoutColumn {
                name: name.clone(),
                from: loaded.iter().position(|column| column.name == *name),
            })
            .collect();
        Self { columns }
    }

    /// Whether the file has the load's columns, all of them and in their order.
    pub(super) fn is_plain(&self) -> bool {
        self.columns.iter().enumerate().all(|(index, column)| column.from == Some(index))
    }
}
