//! Measures the quality of tool scores: the rank correlation of expected scores with actual results.

/// Spearman's rank correlation; ties share their mean rank. `None` with fewer than two pairs or without any variance.
pub fn rank_correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 2 {
        return None;
    }
    let expected = mean_ranks(pairs.iter().map(|pair| pair.0));
    let found = mean_ranks(pairs.iter().map(|pair| pair.1));
    let mean = f64::midpoint(pairs.len() as f64, 1.0);
    let (mut both, mut first, mut second) = (0.0, 0.0, 0.0);
    for (one, other) in expected.iter().zip(&found) {
        both += (one - mean) * (other - mean);
        first += (one - mean).powi(2);
        second += (other - mean).powi(2);
    }
    let spread = (first * second).sqrt();
    (spread > 0.0).then(|| both / spread)
}

fn mean_ranks(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|one, other| values[*one].total_cmp(&values[*other]));
    let mut ranks = vec![0.0; values.len()];
    let mut at = 0;
    while at < order.len() {
        let same = order[at..]
            .iter()
            .take_while(|other| values[**other].total_cmp(&values[order[at]]).is_eq())
            .count();
        let shared = (2 * at + same + 1) as f64 / 2.0;
        for position in &order[at..at + same] {
            ranks[*position] = shared;
        }
        at += same;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        let up: Vec<(f64, f64)> = (0..10).map(|n| (f64::from(n), f64::from(n * n))).collect();
        assert!((rank_correlation(&up).unwrap() - 1.0).abs() < 1e-9);
        let down: Vec<(f64, f64)> = (0..10).map(|n| (f64::from(n), -f64::from(n))).collect();
        assert!((rank_correlation(&down).unwrap() + 1.0).abs() < 1e-9);
        assert_eq!(rank_correlation(&[(1.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(rank_correlation(&[(1.0, 1.0)]), None);
        // Two ties: ranks 1.5, 1.5, 3 against 1, 2, 3.
        let tied = rank_correlation(&[(1.0, 1.0), (1.0, 2.0), (2.0, 3.0)]).unwrap();
        assert!((tied - 0.866_025_403_784_438_6).abs() < 1e-9);
    }
}
