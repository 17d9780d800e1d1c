//! "Did you mean": the nearest known name.

/// The candidate nearest to `word`, if one is near enough to be a slip of the finger: one wrong letter in three at most,
/// where a swap of neighbours counts as one and case does not count. Of equally near ones, the first. Failing that, the
/// shortest candidate that `word` is the beginning of, if it has three letters or more.
pub fn suggest<'a, S: AsRef<str> + ?Sized + 'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a S>,
) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().collect();
    let limit = (word.len() / 3).max(1);
    let (mut nearest, mut completion): (Option<(usize, &str)>, Option<&str>) = (None, None);
    for candidate in candidates.into_iter().map(AsRef::as_ref) {
        let letters: Vec<char> = candidate.to_lowercase().chars().collect();
        let d = distance(&word, &letters, limit);
        if d <= limit && d < letters.len() && nearest.is_none_or(|(least, _)| d < least) {
            nearest = Some((d, candidate));
        }
        if word.len() >= 3
            && letters.starts_with(&word)
            && completion.is_none_or(|c| candidate.len() < c.len())
        {
            completion = Some(candidate);
        }
    }
    nearest.map(|(_, c)| c).or(completion)
}

/// Edit distance with swaps of neighbours (Damerau–Levenshtein, each place edited once); `limit + 1` if the lengths
/// alone differ by more than `limit`.
fn distance(a: &[char], b: &[char], limit: usize) -> usize {
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut two_back = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let changed = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (above[j] + 1).min(row[j - 1] + 1).min(above[j - 1] + changed);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(two_back[j - 2] + 1);
            }
        }
        two_back = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::suggest;

    #[test]
    fn finds_slips_and_nothing_far_fetched() {
        let names = ["Queue", "Discard", "CheckIPHeader", "Tee"];
        assert_eq!(suggest("Que", names), Some("Queue"));
        assert_eq!(suggest("Qu", names), None);
        assert_eq!(suggest("Quee", names), Some("Queue"));
        assert_eq!(suggest("queue", names), Some("Queue"));
        assert_eq!(suggest("Discrad", names), Some("Discard"));
        assert_eq!(suggest("CheckIpHaeder", names), Some("CheckIPHeader"));
        assert_eq!(suggest("Unqueue2", names), None);
        assert_eq!(suggest("", names), None);
    }
}
