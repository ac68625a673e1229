//! What a few expensive measurements say: medians, intervals that assume no distribution, ratios in pairs.
//!
//! Loads are measured six to twenty times, and their times are skewed: no mean and no standard deviation is taken of them. An
//! interval is two of the values themselves (order statistics), whose coverage the binomial distribution tells exactly, whatever the
//! values' distribution (H. A. David, H. N. Nagaraja, Order Statistics, 3rd edition, section 7.1). The same values always make the
//! same interval: nothing is drawn at random.

use std::collections::BTreeMap;

use crate::finding::{Interval, Measured, Summary};

/// The least probability with which a [`Interval::Confidence`] holds the median.
pub const COVERAGE_MIN: f64 = 0.95;

/// Fewer values have no interval with [`COVERAGE_MIN`]: from the least to the greatest of five covers 93.75 %.
pub const CONFIDENCE_VALUES_MIN: usize = 6;

/// Deviations from the median, in median absolute deviations (MAD), above which a value is an outlier: ten standard deviations, if
/// the values were normal (1.4826 MAD each). It is hyperfine's rule (`OUTLIER_THRESHOLD` in its `outlier_detection.rs`), after
/// Iglewicz and Hoaglin, How to Detect and Handle Outliers (1993), whose own modified Z score is this one times 0.6745.
pub const OUTLIER_MADS: f64 = 14.826;

/// The median, of two in the middle their mean; `None` of no values.
pub fn median(values: &[f64]) -> Option<f64> {
    median_of_sorted(&sorted(values))
}

/// The median with its interval and outliers. Values are brought into the order of their blocks; those of one block keep theirs.
///
/// # Panics
/// When there are no values, or not as many blocks.
pub fn summary(values: &[f64], blocks: &[u32]) -> Summary {
    assert_eq!(values.len(), blocks.len(), "every value has a block");
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by_key(|&index| blocks[index]);
    let values: Vec<f64> = order.iter().map(|&index| values[index]).collect();
    let blocks = order.iter().map(|&index| blocks[index]).collect();
    let Some(Measured { value: median, low, high, interval, .. }) = measured(&values) else {
        panic!("a summary of no values");
    };
    let outliers = outliers(&values);
    Summary { values, blocks, median, low, high, interval, outliers }
}

/// Indexes of the values that lie more than [`OUTLIER_MADS`] from the median.
///
/// When more than half of the values are equal, the MAD is 0, and each of the others is an outlier, except for what rounding makes of
/// equal ones (hyperfine divides by the machine's epsilon then, which depends on the unit).
pub fn outliers(values: &[f64]) -> Vec<usize> {
    let Some(center) = median(values) else { return Vec::new() };
    let deviations: Vec<f64> = values.iter().map(|value| (value - center).abs()).collect();
    let rounding = 4.0 * f64::EPSILON * center.abs();
    let limit = median(&deviations).map_or(rounding, |mad| (OUTLIER_MADS * mad).max(rounding));
    (0..values.len()).filter(|&index| deviations[index] > limit).collect()
}

/// The ranks (from 1) of the two of `n` values between which the median lies with a probability of at least `coverage`, as close
/// together as that allows; `None` where even the least and the greatest cover less.
///
/// The probability that the median of a continuous distribution lies between the values of rank r and n + 1 - r is
/// 1 - 2 P(B < r), where B is binomial with n tries and probability 1/2.
pub fn median_ranks(n: usize, coverage: f64) -> Option<(usize, usize)> {
    // Logarithms, because 2 to the -n is no double from 1,075 values on.
    let mut log_mass = -(n as f64) * std::f64::consts::LN_2;
    let mut below = 0.0;
    let mut rank = 0;
    while rank < n / 2 {
        below += log_mass.exp();
        if 1.0 - 2.0 * below < coverage {
            break;
        }
        log_mass += ((n - rank) as f64 / (rank + 1) as f64).ln();
        rank += 1;
    }
    (rank > 0).then_some((rank, n + 1 - rank))
}

/// How many times `a` is `b`, from pairs of one block: the median of the pairs' log-ratios and its interval, as ratios again.
///
/// What disturbs a block disturbs both of its values, and drops out of their ratio. The median of logarithms makes the ratio of B to A
/// the inverse of that of A to B. Blocks that only one of the two has are left out; of a block with several values, the first are a
/// pair, then the second. Where no block is shared, it is [`unpaired`]. `None` if a value that is needed isn't above 0, or there are none.
///
/// Blocks of two runs have the same numbers and nothing in common: those are for [`unpaired`].
pub fn paired(a: &Summary, b: &Summary) -> Option<Measured> {
    let pairs = pairs(a, b);
    if pairs.is_empty() {
        return unpaired(a, b);
    }
    let logs: Option<Vec<f64>> = pairs.iter().map(|&(a, b)| log_ratio(a, b)).collect();
    let logs = measured(&logs?)?;
    Some(Measured { value: logs.value.exp(), low: logs.low.exp(), high: logs.high.exp(), ..logs })
}

/// How many times `a` is `b`, of values that were not measured side by side: the ratio of their medians.
///
/// Its interval goes from the lower end of one divided by the upper end of the other to the opposite. Each of the two covers its median with
/// 97.5 %, so that both do with 95 % (Bonferroni), whatever the distributions; that takes seven values on both sides. With fewer it
/// is the range of all ratios. It is wider than the interval of as many pairs. `n` is the number of values on the side that has fewer.
/// `None` if a value isn't above 0, or there are none.
pub fn unpaired(a: &Summary, b: &Summary) -> Option<Measured> {
    let (a, b) = (sorted(&a.values), sorted(&b.values));
    let value = log_ratio(median_of_sorted(&a)?, median_of_sorted(&b)?)?.exp();
    let each = f64::midpoint(1.0, COVERAGE_MIN);
    let (ranks_a, ranks_b, interval) =
        match (median_ranks(a.len(), each), median_ranks(b.len(), each)) {
            (Some(ranks_a), Some(ranks_b)) => (ranks_a, ranks_b, Interval::Confidence),
            _ => ((1, a.len()), (1, b.len()), Interval::Range),
        };
    let low = log_ratio(a[ranks_a.0 - 1], b[ranks_b.1 - 1])?.exp();
    let high = log_ratio(a[ranks_a.1 - 1], b[ranks_b.0 - 1])?.exp();
    Some(Measured { value, low, high, n: a.len().min(b.len()), interval })
}

/// The noise floor: how far two measurements of the same thing in the same block lie apart. The median of the larger divided by the
/// smaller, less one: 0.03 are three percent. `None` without a shared block, or where one of two different values isn't above 0.
pub fn noise(first: &Summary, second: &Summary) -> Option<f64> {
    let pairs = pairs(first, second);
    let apart = |&(a, b): &(f64, f64)| match a == b {
        // Nought and nought, too.
        true => Some(0.0),
        false => Some(log_ratio(a, b)?.abs()),
    };
    let logs: Option<Vec<f64>> = pairs.iter().map(apart).collect();
    median(&logs?).map(f64::exp_m1)
}

/// Half of the interval's width as a share of the median, for the decision whether more blocks are worth their time. `None` (never
/// precise) for a range, and for a median of 0.
pub fn precision(summary: &Summary) -> Option<f64> {
    let is_known = summary.interval == Interval::Confidence && summary.median != 0.0;
    is_known.then(|| (summary.high - summary.low) / 2.0 / summary.median.abs())
}

/// Spearman's rank correlation, -1 to 1: the correlation of ranks, where equal values share the mean of theirs. `None` of fewer than
/// three pairs, of lists that differ in length, and where all values of one list are equal.
pub fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.len() != b.len() || a.len() < 3 {
        return None;
    }
    let (a, b) = (ranks(a), ranks(b));
    // Shared ranks are means: the sum stays that of 1 to n.
    let mean = f64::midpoint(1.0, a.len() as f64);
    let sum = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    let spread = sum(&a, &a) * sum(&b, &b);
    (spread > 0.0).then(|| (sum(&a, &b) / spread.sqrt()).clamp(-1.0, 1.0))
}

/// The rank correlation of the values with their blocks, if it is one that chance makes in at most one of a hundred cells
/// ([`drift_threshold`]): above 0, later values are greater. `None` if there is no drift to be seen.
pub fn drift(summary: &Summary) -> Option<f64> {
    let blocks: Vec<f64> = summary.blocks.iter().map(|&block| f64::from(block)).collect();
    let correlation = spearman(&summary.values, &blocks)?;
    let threshold = drift_threshold(summary.values.len())?;
    // The threshold is a correlation that exists: what arithmetic makes of an equal one may be a little less.
    (correlation.abs() > threshold - 1e-9).then_some(correlation)
}

/// The absolute rank correlation from which on `n` values that are in no order are less probable than 1 % (two-sided); `None` below
/// six values, where even a perfect order is more probable than that.
///
/// One percent and not five, because a matrix has dozens of cells, and a warning that is always there is none. To ten values it is
/// from the exact distribution over all orders (J. H. Zar, Significance Testing of the Spearman Rank Correlation
/// Coefficient, Journal of the American Statistical Association 67 (1972), 578-580; a test counts the orders). From eleven on it is
/// the normal limit: without an order the coefficient has the variance 1/(n-1) (H. Hotelling, M. R. Pabst, Annals of
/// Mathematical Statistics 7 (1936), 29-43), which is some hundredths too strict at eleven.
pub fn drift_threshold(n: usize) -> Option<f64> {
    /// The sum of squared rank differences D that belongs to the threshold, from six values on: 1 - 6 D / (n (n² - 1)).
    const SQUARES: [f64; 5] = [0.0, 4.0, 10.0, 20.0, 34.0];
    const NORMAL_QUANTILE: f64 = 2.575_829_303_548_901;
    let count = n as f64;
    let first = 6;
    match n.checked_sub(first)? {
        index if index < SQUARES.len() => {
            Some(1.0 - 6.0 * SQUARES[index] / (count * (count * count - 1.0)))
        }
        _ => Some(NORMAL_QUANTILE / (count - 1.0).sqrt()),
    }
}

/// Median and interval of any values; `None` of none.
fn measured(values: &[f64]) -> Option<Measured> {
    let values = sorted(values);
    let n = values.len();
    let value = median_of_sorted(&values)?;
    let (low, high, interval) = match median_ranks(n, COVERAGE_MIN) {
        Some((low, high)) => (low, high, Interval::Confidence),
        None => (1, n, Interval::Range),
    };
    Some(Measured { value, low: values[low - 1], high: values[high - 1], n, interval })
}

/// The values of shared blocks, in the blocks' order.
fn pairs(a: &Summary, b: &Summary) -> Vec<(f64, f64)> {
    let by_block = |summary: &Summary| {
        let mut by_block: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (&value, &block) in summary.values.iter().zip(&summary.blocks) {
            by_block.entry(block).or_default().push(value);
        }
        by_block
    };
    let mut others = by_block(b);
    let shared = by_block(a).into_iter().filter_map(|(block, a)| Some((a, others.remove(&block)?)));
    shared.flat_map(|(a, b)| a.into_iter().zip(b)).collect()
}

/// `None` unless both are above 0 and finite.
fn log_ratio(a: f64, b: f64) -> Option<f64> {
    let is_size = |value: f64| value > 0.0 && value.is_finite();
    (is_size(a) && is_size(b)).then(|| a.ln() - b.ln())
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

fn median_of_sorted(values: &[f64]) -> Option<f64> {
    let upper = *values.get(values.len() / 2)?;
    let is_odd = values.len() % 2 == 1;
    Some(if is_odd { upper } else { f64::midpoint(values[values.len() / 2 - 1], upper) })
}

/// From 1; equal values share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = f64::midpoint((before + 1) as f64, (before + equal.len()) as f64);
        for &index in equal {
            ranks[index] = rank;
        }
        before += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[f64]) -> Summary {
        let blocks: Vec<u32> = (0..).take(values.len()).collect();
        summary(values, &blocks)
    }

    fn assert_near(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{a} is not {b}");
    }

    #[test]
    fn medians_and_intervals_worked_out_by_hand() {
        use Interval::{Confidence, Range};
        let twenty: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        let cases: [(&[f64], f64, f64, f64, Interval); 7] = [
            (&[7.0], 7.0, 7.0, 7.0, Range),
            (&[3.0, 1.0], 2.0, 1.0, 3.0, Range),
            (&[10.0, 30.0, 20.0], 20.0, 10.0, 30.0, Range),
            (&[5.0, 1.0, 4.0, 2.0, 3.0], 3.0, 1.0, 5.0, Range),
            (&[6.0, 1.0, 5.0, 2.0, 4.0, 3.0], 3.5, 1.0, 6.0, Confidence),
            (&[9.0, 1.0, 8.0, 2.0, 7.0, 3.0, 6.0, 4.0, 5.0], 5.0, 2.0, 8.0, Confidence),
            (&twenty, 10.5, 6.0, 15.0, Confidence),
        ];
        for (values, median, low, high, interval) in cases {
            let summary = of(values);
            assert_eq!((summary.median, summary.low, summary.high), (median, low, high));
            assert_eq!(summary.interval, interval, "of {} values", values.len());
            assert_eq!(summary.values, values);
        }
    }

    /// 2^6 = 64, 2^9 = 512, 2^20 = 1,048,576 outcomes, of which those below the rank are 1, 1 + 9, and 21,700 = 1 + 20 + 190 + 1140 + 4845 + 15504.
    #[test]
    fn ranks_are_the_closest_that_cover_enough() {
        let at = |coverage: f64, n| median_ranks(n, coverage);
        assert_eq!(at(COVERAGE_MIN, CONFIDENCE_VALUES_MIN - 1), None);
        assert_eq!(at(COVERAGE_MIN, CONFIDENCE_VALUES_MIN), Some((1, 6)));
        for (n, below, ranks) in [(6, 1.0, (1, 6)), (9, 10.0, (2, 8)), (20, 21_700.0, (6, 15))] {
            let coverage = 1.0 - 2.0 * below / 2_f64.powi(n);
            let n = usize::try_from(n).unwrap();
            assert_eq!(at(coverage - 1e-12, n), Some(ranks));
            let wider = (ranks.0 > 1).then(|| (ranks.0 - 1, ranks.1 + 1));
            assert_eq!(at(coverage + 1e-12, n), wider);
        }
        assert_eq!((at(0.95, 0), at(0.95, 1)), (None, None));
    }

    /// Their number is to be had without its factorials: about n/2 - 0.98 √n.
    #[test]
    fn ranks_of_very_many_values_do_not_underflow() {
        for n in [1_000, 5_000, 100_000] {
            let (low, high) = median_ranks(n, COVERAGE_MIN).unwrap();
            assert_eq!(low + high, n + 1);
            let normal = n as f64 / 2.0 - 0.98 * (n as f64).sqrt();
            assert!((low as f64 - normal).abs() < 2.0, "{low} of {n}");
        }
    }

    #[test]
    fn values_come_in_the_order_of_their_blocks() {
        let summary = summary(&[3.0, 1.0, 2.0, 9.0], &[2, 0, 1, 0]);
        assert_eq!(summary.values, [1.0, 9.0, 2.0, 3.0]);
        assert_eq!(summary.blocks, [0, 0, 1, 2]);
    }

    /// Those of hyperfine's own tests.
    #[test]
    fn outliers_are_those_of_hyperfine() {
        assert_eq!(outliers(&[]), [] as [usize; 0]);
        assert_eq!(outliers(&[1000.0, 0.0]), [] as [usize; 0]);
        assert_eq!(outliers(&[-0.2, 0.0, 0.2]), [] as [usize; 0]);
        assert_eq!(outliers(&[-0.2, 0.0, 0.2, 4.0]), [3]);
        assert_eq!(outliers(&[0.5, 0.30, 0.29, 0.31, 0.30]), [0]);
        assert_eq!(outliers(&[10.0, 10.0, 100.0, 10.0, 10.0]), [2]);
        // The median is 3 and the MAD is 1: 14.826 from it.
        assert_eq!(outliers(&[1.0, 2.0, 3.0, 4.0, 17.8]), [] as [usize; 0]);
        assert_eq!(outliers(&[1.0, 2.0, 3.0, 4.0, 17.9]), [4]);
        assert_eq!(outliers(&[0.1 + 0.2, 0.3, 0.3, 0.3]), [] as [usize; 0]);
    }

    #[test]
    fn ratios_are_of_pairs_of_one_block() {
        let a = summary(&[2.0, 8.0, 30.0, 5.0], &[0, 1, 2, 7]);
        let b = summary(&[1.0, 2.0, 10.0, 6.0], &[0, 1, 2, 9]);
        let ratio = paired(&a, &b).unwrap();
        assert_near(ratio.value, 3.0);
        assert_near(ratio.low, 2.0);
        assert_near(ratio.high, 4.0);
        assert_eq!((ratio.n, ratio.interval), (3, Interval::Range));
    }

    #[test]
    fn six_pairs_have_a_confidence_interval() {
        let a = of(&[2.0, 4.0, 2.0, 4.0, 2.0, 4.0]);
        let b = of(&[1.0; 6]);
        let ratio = paired(&a, &b).unwrap();
        assert_near(ratio.value, 8_f64.sqrt());
        assert_eq!((ratio.n, ratio.interval), (6, Interval::Confidence));
    }

    #[test]
    fn without_a_shared_block_medians_are_divided() {
        let a = summary(&[2.0, 4.0, 6.0], &[0, 1, 2]);
        let b = summary(&[1.0, 2.0], &[3, 4]);
        let ratio = paired(&a, &b).unwrap();
        assert_near(ratio.value, 4.0 / 1.5);
        assert_near(ratio.low, 1.0);
        assert_near(ratio.high, 6.0);
        assert_eq!((ratio.n, ratio.interval), (2, Interval::Range));

        // Of seven, least and greatest cover 98.4 %; of six only 96.9 %, which is less than each side needs.
        let seven = of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        let ratio = unpaired(&seven, &seven).unwrap();
        assert_eq!(ratio.interval, Interval::Confidence);
        assert_near(ratio.high, 7.0);
        let six = of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(unpaired(&six, &seven).unwrap().interval, Interval::Range);
    }

    #[test]
    fn a_ratio_to_nothing_is_none() {
        let nothing = of(&[0.0, 1.0, 1.0]);
        let something = of(&[1.0, 1.0, 1.0]);
        assert_eq!(paired(&something, &nothing), None);
        assert_eq!(paired(&nothing, &something), None);
        assert_eq!(noise(&nothing, &something), None);
        assert_eq!(noise(&nothing, &nothing), Some(0.0));
        assert_eq!(unpaired(&something, &nothing), None);
    }

    #[test]
    fn noise_is_the_median_of_larger_by_smaller() {
        let first = of(&[100.0, 110.0, 100.0]);
        let second = of(&[102.0, 100.0, 105.0]);
        assert_near(noise(&first, &second).unwrap(), 0.05);
        assert_near(noise(&second, &first).unwrap(), 0.05);
        assert_eq!(noise(&first, &summary(&[1.0], &[9])), None);
    }

    #[test]
    fn precision_is_half_of_the_width_and_unknown_below_six() {
        assert_eq!(precision(&of(&[10.0; 5])), None);
        assert_eq!(precision(&of(&[10.0; 6])), Some(0.0));
        assert_eq!(precision(&of(&[0.0; 6])), None);
        assert_near(precision(&of(&[9.0, 10.0, 10.0, 10.0, 10.0, 12.0])).unwrap(), 0.15);
    }

    /// The textbook's: IQ and hours of television, 1 - 6·194/(10·99). With ties: ranks 1, 2.5, 2.5, 4 to 1, 2, 3, 4 is 4.5/√(4.5·5).
    #[test]
    fn rank_correlations_worked_out_by_hand() {
        let iq = [106.0, 100.0, 86.0, 101.0, 99.0, 103.0, 97.0, 113.0, 112.0, 110.0];
        let hours = [7.0, 27.0, 2.0, 50.0, 28.0, 29.0, 20.0, 12.0, 6.0, 17.0];
        assert_near(spearman(&iq, &hours).unwrap(), -29.0 / 165.0);
        let tied = spearman(&[1.0, 5.0, 5.0, 9.0], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_near(tied, 4.5 / 22.5_f64.sqrt());
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[2.0, 2.0, 2.0]), None);
        assert_eq!(spearman(&[1.0, 2.0], &[1.0, 2.0]), None);
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[1.0, 2.0]), None);
    }

    #[test]
    fn drift_is_seen_from_six_values_on() {
        let rising: Vec<f64> = (1..=6).map(f64::from).collect();
        assert_eq!(drift(&of(&rising[..5])), None);
        assert_eq!(drift(&of(&rising)), Some(1.0));
        assert_eq!(drift(&of(&[6.0, 5.0, 4.0, 3.0, 2.0, 1.0])), Some(-1.0));
        assert_eq!(drift(&of(&[1.0, 2.0, 3.0, 4.0, 6.0, 5.0])), None);
        assert_eq!(drift(&of(&[2.0; 20])), None);
    }

    /// Counts the orders of n values with every sum of squared rank differences.
    fn orders(n: usize, place: usize, taken: u32, squares: usize, counts: &mut [u64]) {
        if place == n {
            counts[squares] += 1;
            return;
        }
        for rank in (0..n).filter(|rank| taken & (1 << rank) == 0) {
            let squares = squares + rank.abs_diff(place).pow(2);
            orders(n, place + 1, taken | (1 << rank), squares, counts);
        }
    }

    #[test]
    fn drift_thresholds_are_those_of_all_orders() {
        for n in 5..=10 {
            let squares_max = n * (n * n - 1) / 3;
            let mut counts = vec![0; squares_max + 1];
            orders(n, 0, 0, 0, &mut counts);
            let all: u64 = counts.iter().sum();
            // Both tails are equal, and the sum of squares is always even.
            let mut within = 0;
            let mut threshold = None;
            for squares in (0..=squares_max / 2).step_by(2) {
                within += counts[squares];
                if 200 * within > all {
                    break;
                }
                threshold = Some(1.0 - 2.0 * squares as f64 / squares_max as f64);
            }
            match (drift_threshold(n), threshold) {
                (Some(stated), Some(counted)) => assert_near(stated, counted),
                (stated, counted) => assert_eq!(stated, counted, "{n} values"),
            }
        }
        assert!(drift_threshold(11).unwrap() > 0.755, "stricter than the exact one");
        assert!(drift_threshold(11) > drift_threshold(12));
    }

    fn samples() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(1e-3..1e9_f64, 1..40)
    }

    proptest! {
        #[test]
        fn an_interval_holds_the_median(values in samples()) {
            let summary = of(&values);
            prop_assert!(summary.low <= summary.median && summary.median <= summary.high);
            let has_confidence = summary.interval == Interval::Confidence;
            prop_assert_eq!(has_confidence, values.len() >= CONFIDENCE_VALUES_MIN);
            prop_assert_eq!(precision(&summary).is_some(), has_confidence);
        }

        /// By powers of two, which change no digit.
        #[test]
        fn a_unit_changes_nothing_but_the_numbers(values in samples(), power in -20..20_i32) {
            let factor = 2_f64.powi(power);
            let (one, other) = (of(&values), of(&values.iter().map(|v| v * factor).collect::<Vec<_>>()));
            prop_assert_eq!(one.median * factor, other.median);
            prop_assert_eq!(one.low * factor, other.low);
            prop_assert_eq!(one.high * factor, other.high);
            prop_assert_eq!(&one.outliers, &other.outliers);
            prop_assert_eq!(precision(&one), precision(&other));
            prop_assert_eq!(drift(&one), drift(&other));
        }

        #[test]
        fn the_order_of_samples_does_not_matter(
            (values, shuffled) in prop::collection::btree_map(any::<u32>(), 1e-3..1e9_f64, 1..40)
                .prop_map(|map| map.into_iter().collect::<Vec<_>>())
                .prop_flat_map(|pairs| (Just(pairs.clone()), Just(pairs).prop_shuffle()))
        ) {
            let of = |pairs: &[(u32, f64)]| {
                let (blocks, values): (Vec<u32>, Vec<f64>) = pairs.iter().copied().unzip();
                summary(&values, &blocks)
            };
            prop_assert_eq!(of(&values), of(&shuffled));
        }

        #[test]
        fn a_ratio_turned_round_is_its_inverse(
            pairs in prop::collection::vec((1e-3..1e6_f64, 1e-3..1e6_f64), 1..30)
        ) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let (a, b) = (of(&a), of(&b));
            let (there, back) = (paired(&a, &b).unwrap(), paired(&b, &a).unwrap());
            for (one, other) in [(there.value, back.value), (there.low, back.high), (there.high, back.low)] {
                prop_assert!((one * other - 1.0).abs() < 1e-9);
            }
            let same = paired(&a, &a).unwrap();
            prop_assert_eq!((same.value, same.low, same.high), (1.0, 1.0, 1.0));
            prop_assert_eq!(noise(&a, &a), Some(0.0));
        }
    }
}
