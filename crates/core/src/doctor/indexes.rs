//! Indexes that others cover, and foreign keys that none serves.

/// An index as a catalogue has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// The table, as messages name it.
    pub table: String,
    /// Its name.
    pub name: String,
    /// Its columns in order, with whatever tells two of them apart: direction, collation, length of a prefix.
    pub columns: Vec<String>,
    /// What else tells it apart, such as its method or the condition of a partial index; empty for an ordinary one.
    pub kind: String,
    /// Whether it refuses rows.
    pub is_unique: bool,
    /// Whether it is a primary key or stands for a constraint, and can't be dropped by itself.
    pub is_kept: bool,
}

/// A foreign key of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignKey {
    /// The table that refers.
    pub table: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// The table that it refers to.
    pub parent: String,
}

/// Each index that another one serves as well, and that one: its columns begin the other's, and it refuses no row that the other lets in.
/// Of equals the first stays.
pub fn covered(indexes: &[Index]) -> Vec<(&Index, &Index)> {
    covered_where(indexes, |own, other| own == other)
}

/// The same where a column of the other one may be another, as long as it `serves` as well as the index's own, which comes first.
pub fn covered_where(
    indexes: &[Index],
    serves: impl Fn(&str, &str) -> bool,
) -> Vec<(&Index, &Index)> {
    let begins = |index: &Index, other: &Index| {
        let mut both = index.columns.iter().zip(&other.columns);
        index.columns.len() <= other.columns.len() && both.all(|(own, other)| serves(own, other))
    };
    let covers = |a: usize, b: usize| {
        let (index, other) = (&indexes[a], &indexes[b]);
        let is_equal = index.columns == other.columns;
        let refuses_no_more = !index.is_unique || (is_equal && other.is_unique);
        let gives_way = !is_equal
            || (other.is_kept, other.is_unique, b < a) > (index.is_kept, index.is_unique, a < b);
        a != b
            && !index.is_kept
            && index.table == other.table
            && index.kind == other.kind
            && begins(index, other)
            && refuses_no_more
            && gives_way
    };
    // One that stays is named, of several the longest.
    let stays = |b: usize| !(0..indexes.len()).any(|other| covers(b, other));
    let by = |a: usize| {
        let all = (0..indexes.len()).rev().filter(|&b| covers(a, b));
        all.max_by_key(|&b| (stays(b), indexes[b].columns.len()))
    };
    (0..indexes.len()).filter_map(|a| Some((&indexes[a], &indexes[by(a)?]))).collect()
}

/// The foreign keys that no index serves: none of the table's begins with their columns, in whatever order. One that an index for another
/// of them would serve as well is left out. `plain` makes a name of an index's column; only indexes without a kind serve.
pub fn unserved<'k>(
    keys: &'k [ForeignKey],
    indexes: &[Index],
    plain: impl Fn(&str) -> String,
) -> Vec<&'k ForeignKey> {
    let begins = |key: &ForeignKey, columns: &[String]| {
        let begin = columns.get(..key.columns.len()).unwrap_or_default();
        !begin.is_empty() && key.columns.iter().all(|name| begin.contains(name))
    };
    let serves = |index: &Index, key: &ForeignKey| {
        let columns: Vec<String> = index.columns.iter().map(|column| plain(column)).collect();
        index.table == key.table && index.kind.is_empty() && begins(key, &columns)
    };
    let left: Vec<&ForeignKey> =
        keys.iter().filter(|key| !indexes.iter().any(|index| serves(index, key))).collect();
    let is_others = |at: usize| {
        let key = left[at];
        left.iter().enumerate().any(|(other_at, other)| {
            let is_first = other.columns.len() > key.columns.len() || other_at < at;
            other_at != at && other.table == key.table && is_first && begins(key, &other.columns)
        })
    };
    (0..left.len()).filter(|&at| !is_others(at)).map(|at| left[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(name: &str, columns: &[&str], is_unique: bool, is_kept: bool) -> Index {
        let columns = columns.iter().map(|&column| column.to_owned()).collect();
        let (table, name) = ("t".to_owned(), name.to_owned());
        Index { table, name, columns, kind: String::new(), is_unique, is_kept }
    }

    fn names(indexes: &[Index]) -> Vec<(&str, &str)> {
        covered(indexes).into_iter().map(|(a, b)| (a.name.as_str(), b.name.as_str())).collect()
    }

    #[test]
    fn one_that_begins_another_is_covered() {
        let all = [index("ab", &["a", "b"], false, false), index("a", &["a"], false, false)];
        assert_eq!(names(&all), [("a", "ab")]);
        let three = [
            index("a", &["a"], false, false),
            index("ab", &["a", "b"], false, false),
            index("abc", &["a", "b", "c"], false, false),
        ];
        assert_eq!(names(&three), [("a", "abc"), ("ab", "abc")]);
        let other_order =
            [index("ab", &["a", "b"], false, false), index("b", &["b"], false, false)];
        assert_eq!(names(&other_order), []);
    }

    #[test]
    fn of_equals_the_one_that_refuses_rows_stays_and_else_the_first() {
        let all = [index("x", &["a"], false, false), index("y", &["a"], false, false)];
        assert_eq!(names(&all), [("y", "x")]);
        let all = [index("x", &["a"], false, false), index("y", &["a"], true, false)];
        assert_eq!(names(&all), [("x", "y")]);
        let all = [index("x", &["a"], true, false), index("key", &["a"], true, true)];
        assert_eq!(names(&all), [("x", "key")]);
    }

    #[test]
    fn one_that_refuses_rows_is_not_covered_by_a_longer_one() {
        let all = [index("u", &["a"], true, false), index("ab", &["a", "b"], false, false)];
        assert_eq!(names(&all), []);
        let all = [index("u", &["a"], true, false), index("ab", &["a", "b"], true, false)];
        assert_eq!(names(&all), []);
    }

    #[test]
    fn one_that_stays_is_named_as_what_covers() {
        let all = ["c5", "c7", "c"].map(|name| index(name, &[name], false, false));
        let is_shorter = |own: &str, other: &str| own == other || other == "c" || own == "c5";
        let named: Vec<_> = covered_where(&all, |own, other| is_shorter(own, other) && own != "c")
            .into_iter()
            .map(|(a, b)| (a.name.as_str(), b.name.as_str()))
            .collect();
        assert_eq!(named, [("c5", "c"), ("c7", "c")]);
    }

    #[test]
    fn partial_indexes_and_other_tables_cover_nothing() {
        let mut partial = index("p", &["a", "b"], false, false);
        partial.kind = "where b > 0".to_owned();
        let mut elsewhere = index("e", &["a", "b"], false, false);
        elsewhere.table = "other".to_owned();
        assert_eq!(names(&[partial, elsewhere, index("a", &["a"], false, false)]), []);
    }

    #[test]
    fn a_foreign_key_is_served_by_an_index_that_begins_with_its_columns_in_any_order() {
        let key = |columns: &[&str]| ForeignKey {
            table: "t".to_owned(),
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            parent: "p".to_owned(),
        };
        let all = [index("bac", &["b", "a", "c"], false, false)];
        let keys = [key(&["a", "b"]), key(&["a"]), key(&["c"]), key(&["b"])];
        let unserved = unserved(&keys, &all, str::to_owned);
        assert_eq!(unserved, [&keys[1], &keys[2]]);
    }

    #[test]
    fn one_new_index_is_enough_for_keys_that_it_serves_together() {
        let key = |columns: &[&str]| ForeignKey {
            table: "t".to_owned(),
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            parent: "p".to_owned(),
        };
        let keys = [key(&["a"]), key(&["a"]), key(&["a", "b"]), key(&["c"])];
        assert_eq!(unserved(&keys, &[], str::to_owned), [&keys[2], &keys[3]]);
    }
}
