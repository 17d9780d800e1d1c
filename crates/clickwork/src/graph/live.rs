//! Packet counts of a router: of a running one, read through its control socket, or of one at hand.

use crate::control::Client;
use clickwork_router::Router;
use std::collections::HashMap;

/// Packets and drops of each element.
#[derive(Debug, Default)]
pub struct Counts(HashMap<String, (u64, u64)>);

impl Counts {
    /// Reads them.
    ///
    /// # Errors
    /// If the router cannot be asked.
    pub fn read(router: &mut Client) -> Result<Counts, String> {
        let value = router.read("active_ports", "").map_err(|e| format!("no packet counts: {e}"))?;
        Ok(Counts::parse(&String::from_utf8_lossy(&value)))
    }

    /// Those of a router at hand.
    pub fn of(router: &Router) -> Counts {
        let infos = router.ids().map(|id| router.info(id));
        let drops = |drops: &[(&str, u64)]| drops.iter().map(|(_, n)| n).sum();
        Counts(infos.map(|i| (i.name.clone(), (i.packets, drops(&i.drops)))).collect())
    }

    /// Lines of name, packets and drops, separated by tabs.
    fn parse(text: &str) -> Counts {
        let line = |l: &str| {
            let mut fields = l.split('\t');
            let name = fields.next()?.to_string();
            Some((name, (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?)))
        };
        Counts(text.lines().filter_map(line).collect())
    }

    /// What is written on an element's box.
    pub fn text(&self, element: &str) -> String {
        match self.0.get(element) {
            None => "not in the running router".to_string(),
            Some((packets, 0)) => grouped(*packets),
            Some((packets, drops)) => format!("{}, {} dropped", grouped(*packets), grouped(*drops)),
        }
    }
}

/// A number with its digits in groups of three.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_shown_with_drops_if_there_are_any() {
        let counts = Counts::parse("a\t1234567\t0\nb/q\t5\t1000\nnonsense\n");
        assert_eq!(counts.text("a"), "1,234,567");
        assert_eq!(counts.text("b/q"), "5, 1,000 dropped");
        assert_eq!(counts.text("c"), "not in the running router");
    }
}
