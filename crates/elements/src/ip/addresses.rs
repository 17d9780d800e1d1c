//! Sets of IPv4 addresses that packets' addresses are looked up in.

use super::fast::check_ip_header::Addresses;
use clickwork_packet::addr::Ipv4Address;
use clickwork_router::args::{BadValue, FromArg, Names, split_words};

/// A small set. Most addresses that are not in it are told apart without a search.
#[derive(Clone, Debug, Default)]
pub struct AddressSet {
    sorted: Vec<u32>,
    /// Which values of an address's last six bits occur.
    endings: u64,
}

impl AddressSet {
    /// Adds an address.
    pub fn insert(&mut self, address: Ipv4Address) {
        let bits = address.to_bits();
        if let Err(at) = self.sorted.binary_search(&bits) {
            self.sorted.insert(at, bits);
            self.endings |= 1 << (bits & 63);
        }
    }

    /// The set as the fast path of CheckIPHeader knows it.
    #[inline]
    pub fn constants(&self) -> Addresses<'_> {
        Addresses { endings: self.endings, sorted: &self.sorted }
    }

    /// Whether the address is in the set.
    #[inline]
    pub fn contains(&self, address: Ipv4Address) -> bool {
        let bits = address.to_bits();
        self.endings >> (bits & 63) & 1 != 0 && self.sorted.binary_search(&bits).is_ok()
    }
}

impl Extend<Ipv4Address> for AddressSet {
    fn extend<I: IntoIterator<Item = Ipv4Address>>(&mut self, addresses: I) {
        addresses.into_iter().for_each(|a| self.insert(a));
    }
}

/// Values of a type separated by spaces, such as `10.0.0.1 10.0.0.2`; maybe none.
pub struct Several<T>(pub Vec<T>);

impl<T: FromArg> FromArg for Several<T> {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        let words = split_words(text);
        words.iter().map(|word| T::from_arg(word, names)).collect::<Result<_, _>>().map(Several)
    }
}

/// Addresses separated by spaces.
impl FromArg for AddressSet {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        let mut set = AddressSet::default();
        set.extend(Several::from_arg(text, names)?.0);
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_was_listed_and_nothing_else() {
        let set =
            AddressSet::from_arg("10.0.0.255 0.0.0.0  10.0.0.63 10.0.0.255", &Names::default()).unwrap();
        for (text, is_in) in
            [("10.0.0.255", true), ("0.0.0.0", true), ("10.0.0.63", true), ("10.0.0.191", false)]
        {
            assert_eq!(set.contains(text.parse().unwrap()), is_in, "{text}");
        }
        assert!(AddressSet::from_arg("10.0.0.1 10.0.0", &Names::default()).is_err());
    }
}
