use proptest::prelude::*;

use crate::reader;
use crate::rows::{Random, Table, write};
use crate::templates;

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_tables_read_back(
        seed in any::<u64>(),
        rows in prop_oneof![Just(0_usize), Just(1), 2..40_usize, 40..3000_usize],
        long in prop_oneof![Just(50_usize), Just(9000), Just(70_000)],
        template in 0..templates::FILES.len(),
    ) {
        let mut random = Random(seed);
        let table = Table::draw(&mut random);
        // So that a case takes no longer than others.
        let rows = rows.min(4_000_000 / (long * table.columns.len()));
        let rows = table.rows(&mut random, rows, long);
        let template = templates::all().nth(template).unwrap();
        let (file, summary) = write(&template, &table.layout(), &rows);
        let contents = reader::read(&file, &table.layout());
        prop_assert_eq!(summary.rows, rows.len() as u64);
        prop_assert!(contents.rows == rows);
        let ids: Vec<u64> = if table.key == 0 { (1..=summary.rows).collect() } else { vec![0; rows.len()] };
        prop_assert_eq!(contents.row_ids, ids);
    }
}
