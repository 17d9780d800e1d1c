//! What `--so_flags` says: the addresses of this host, and a few parameters.
//!
//! Words separated by commas: IPv4 and IPv6 addresses that are ours, of which connections take their source (others are
//! learned from what packetdrill binds and sends); `LOCAL_IPV4` and `LOCAL_IPV6` for packetdrill's customary ones; `mtu=N`;
//! `seed=N`; `sysctls=DIRECTORY` with other parameters than those of this machine; `patient` where real time must never count.

use std::net::IpAddr;
use std::path::PathBuf;

/// Parsed flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flags {
    /// Addresses that were named.
    pub addresses: Vec<IpAddr>,
    /// Bytes that the link carries.
    pub mtu: u32,
    /// For the stack's random numbers.
    pub seed: u64,
    /// Where sysctls are read.
    pub sysctls: PathBuf,
    /// Real time does not count, and a thread that has to say something is waited for as long as the machine lets it wait.
    pub patient: bool,
}

impl Default for Flags {
    fn default() -> Flags {
        let sysctls = PathBuf::from("/proc/sys/net");
        Flags { addresses: Vec::new(), mtu: 1500, seed: 1, sysctls, patient: false }
    }
}

impl Flags {
    /// Reads the flags, and which words of them mean nothing.
    pub fn parse(text: &str) -> (Flags, Vec<&str>) {
        let mut flags = Flags::default();
        let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
        let unknown = words.filter(|word| flags.word(word).is_none()).collect();
        (flags, unknown)
    }

    /// Addresses that are ours: if none was named, those that packetdrill chooses.
    pub fn local_addresses(&self) -> Vec<IpAddr> {
        match &self.addresses[..] {
            [] => [LOCAL_IPV4, LOCAL_IPV6].iter().filter_map(|text| text.parse().ok()).collect(),
            named => named.to_vec(),
        }
    }

    fn word(&mut self, word: &str) -> Option<()> {
        match word.split_once('=') {
            Some(("mtu", number)) => self.mtu = number.parse().ok().filter(|mtu| *mtu >= 68)?,
            Some(("seed", number)) => self.seed = number.parse().ok()?,
            Some(("sysctls", path)) => self.sysctls = PathBuf::from(path),
            Some(_) => return None,
            None if word == "patient" => self.patient = true,
            None if word == "LOCAL_IPV4" => self.addresses.push(LOCAL_IPV4.parse().ok()?),
            None if word == "LOCAL_IPV6" => self.addresses.push(LOCAL_IPV6.parse().ok()?),
            None => self.addresses.push(word.parse().ok()?),
        }
        Some(())
    }
}

/// The local address of packetdrill's default configuration.
pub const LOCAL_IPV4: &str = "192.168.0.1";
/// See [`LOCAL_IPV4`].
pub const LOCAL_IPV6: &str = "fd3d:fa7b:d17d::1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_parameters() {
        let (flags, unknown) = Flags::parse("192.168.0.1,fd3d::1,mtu=1280,patient,seed=7");
        assert!(unknown.is_empty());
        assert_eq!(flags.addresses, ["192.168.0.1".parse::<IpAddr>().unwrap(), "fd3d::1".parse().unwrap()]);
        assert_eq!((flags.mtu, flags.seed, flags.patient), (1280, 7, true));
        assert_eq!(Flags::parse("LOCAL_IPV4,LOCAL_IPV6").0.addresses.len(), 2);
        assert_eq!(Flags::parse(""), (Flags::default(), vec![]));
        assert_eq!(Flags::parse("192.168.0.1,nonsense,mtu=x").1, ["nonsense", "mtu=x"]);
    }
}
