//! Parameters of the stack from the `net.ipv4.tcp_*` sysctls of this machine: scripts set them with shell commands before
//! they open sockets, and expect the TCP under test to follow.
//!
//! What cannot be read, or is no number, leaves the value as it is.

use std::path::{Path, PathBuf};

use clickwork_prolac_tcp::abi::Config;
use clickwork_prolac_tcp::sockets::Limits;
use clickwork_prolac_tcp::stack::FastOpenKeys;

const SECOND: u32 = 1_000_000;

/// A directory of sysctls.
#[derive(Clone, Debug)]
pub struct Sysctls {
    root: PathBuf,
}

impl Sysctls {
    /// Those below a directory that looks like `/proc/sys/net`.
    pub fn at(root: &Path) -> Sysctls {
        Sysctls { root: root.to_owned() }
    }

    fn text(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(name)).ok()
    }

    fn numbers(&self, name: &str) -> Vec<i64> {
        let text = self.text(name).unwrap_or_default();
        text.split_whitespace().map_while(|word| word.parse().ok()).collect()
    }

    fn number(&self, name: &str) -> Option<u32> {
        self.numbers(name).first().and_then(|&number| u32::try_from(number).ok())
    }

    /// Sets `field` to the sysctl times `unit`.
    fn set(&self, field: &mut u32, name: &str, unit: u32) {
        if let Some(number) = self.number(name) {
            *field = number.saturating_mul(unit);
        }
    }

    /// Brings the parameters up to date.
    pub fn update(&self, config: &mut Config) {
        self.set(&mut config.window_scaling, "ipv4/tcp_window_scaling", 1);
        self.set(&mut config.timestamps, "ipv4/tcp_timestamps", 1);
        self.set(&mut config.sack, "ipv4/tcp_sack", 1);
        self.set(&mut config.ecn, "ipv4/tcp_ecn", 1);
        self.set(&mut config.fast_open, "ipv4/tcp_fastopen", 1);
        self.set(&mut config.syn_cookies, "ipv4/tcp_syncookies", 1);
        self.set(&mut config.syn_retries, "ipv4/tcp_syn_retries", 1);
        self.set(&mut config.synack_retries, "ipv4/tcp_synack_retries", 1);
        self.set(&mut config.retries, "ipv4/tcp_retries2", 1);
        self.set(&mut config.keepalive_probes, "ipv4/tcp_keepalive_probes", 1);
        self.set(&mut config.keepalive_time, "ipv4/tcp_keepalive_time", 1000);
        self.set(&mut config.keepalive_interval, "ipv4/tcp_keepalive_intvl", 1000);
        self.set(&mut config.fin_timeout, "ipv4/tcp_fin_timeout", SECOND);
        self.set(&mut config.rto_min, "ipv4/tcp_rto_min_us", 1);
        self.set(&mut config.rto_max, "ipv4/tcp_rto_max_ms", 1000);
        self.set(&mut config.challenge_acks, "ipv4/tcp_challenge_ack_limit", 1);
        self.update_special(config);
    }

    /// The keys of fast open cookies, as `tcp_fastopen_key` shows them: four words in hexadecimal, or twice four.
    pub fn fast_open_keys(&self) -> Option<FastOpenKeys> {
        let text = self.text("ipv4/tcp_fastopen_key")?;
        let words: Option<Vec<u32>> =
            text.trim().split(['-', ',']).map(|word| u32::from_str_radix(word, 16).ok()).collect();
        let bytes: Vec<u8> = words?.into_iter().flat_map(u32::to_le_bytes).collect();
        FastOpenKeys::from_bytes(&bytes)
    }

    fn update_special(&self, config: &mut Config) {
        match self.number("ipv4/tcp_orphan_retries") {
            // 0 means 8, Linux's own default.
            Some(0) => config.orphan_retries = 8,
            Some(number) => config.orphan_retries = number,
            None => {}
        }
        if let Some(no_discovery) = self.number("ipv4/ip_no_pmtu_disc") {
            let by_icmp = u32::from(no_discovery == 0);
            let by_probes = self.number("ipv4/tcp_mtu_probing").unwrap_or(0).min(2);
            config.path_mtu = by_icmp | by_probes << 1;
        }
        if let [_, initial, most] = self.numbers("ipv4/tcp_rmem")[..] {
            config.receive_buffer = u32::try_from(initial).unwrap_or(config.receive_buffer);
            config.receive_buffer_max = u32::try_from(most).unwrap_or(config.receive_buffer_max);
        }
        match self.text("ipv4/tcp_congestion_control").as_deref().map(str::trim) {
            Some("reno") => config.congestion_control = 0,
            Some("cubic") => config.congestion_control = 1,
            _ => {}
        }
    }

    /// Brings the limits of sockets up to date.
    pub fn update_limits(&self, limits: &mut Limits) {
        self.set(&mut limits.send_buffer_max, "core/wmem_max", 1);
        self.set(&mut limits.receive_buffer_max, "core/rmem_max", 1);
        self.set(&mut limits.backlog, "core/somaxconn", 1);
        if let [_, initial, _] = self.numbers("ipv4/tcp_wmem")[..] {
            limits.send_buffer = u32::try_from(initial).unwrap_or(limits.send_buffer);
        }
        if let [low, high] = self.numbers("ipv4/ip_local_port_range")[..]
            && let (Ok(low), Ok(high)) = (u16::try_from(low), u16::try_from(high))
        {
            limits.ephemeral = (low, high);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_cookies_are_words() {
        let root = std::env::temp_dir().join(format!("prolac-tcp-sysctl-keys-{}", std::process::id()));
        std::fs::create_dir_all(root.join("ipv4")).unwrap();
        let keys = |text: &str| {
            std::fs::write(root.join("ipv4/tcp_fastopen_key"), text).unwrap();
            Sysctls::at(&root).fast_open_keys().map(FastOpenKeys::to_bytes)
        };
        let one = keys("a1a1a1a1-b2b2b2b2-c3c3c3c3-04030201\n").unwrap();
        assert_eq!((one.len(), &one[11..]), (16, &[0xc3, 1, 2, 3, 4][..]));
        assert_eq!(keys("0-1-2-3,4-5-6-7\n").map(|bytes| bytes.len()), Some(32));
        assert_eq!([keys("0-1-2"), keys("rubbish")], [None, None]);
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn sysctls_become_parameters() {
        let root = clickwork_oracles::unused("prolac-tcp-sysctl");
        std::fs::create_dir_all(root.join("ipv4")).unwrap();
        for (name, text) in [
            ("tcp_sack", "0\n"),
            ("tcp_retries2", "5\n"),
            ("tcp_rmem", "4096\t50000\t70000\n"),
            ("tcp_congestion_control", "reno\n"),
            ("tcp_keepalive_time", "9\n"),
            ("tcp_orphan_retries", "0\n"),
            ("tcp_fin_timeout", "rubbish\n"),
            ("ip_no_pmtu_disc", "0\n"),
            ("tcp_mtu_probing", "2\n"),
        ] {
            std::fs::write(root.join("ipv4").join(name), text).unwrap();
        }
        let mut config = Config::default();
        let before = config;
        Sysctls::at(&root).update(&mut config);
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!((config.sack, config.retries, config.congestion_control), (0, 5, 0));
        assert_eq!((config.receive_buffer, config.receive_buffer_max), (50_000, 70_000));
        assert_eq!((config.keepalive_time, config.orphan_retries, config.path_mtu), (9000, 8, 5));
        assert_eq!(config.fin_timeout, before.fin_timeout, "what cannot be read stays");
        assert_eq!(config.window_scaling, before.window_scaling);
    }
}
