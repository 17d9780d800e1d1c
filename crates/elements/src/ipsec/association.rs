//! The arguments that describe a security association (RFC 4301 §4.4.2) to IPsecESPEncrypt and IPsecESPDecrypt, and the
//! watch over keys that serve twice.

use super::cipher::Suite;
use clickwork_router::Cx;
use clickwork_router::args::{ArgSpec, ArgType, Args, Choice, HexKey};
use std::sync::Arc;

/// The arguments of both ends.
pub const SPI: ArgSpec = ArgSpec::required(
    "SPI",
    ArgType::IntRange { min: 256, max: 0xFFFF_FFFF },
    "security parameters index, which names the association in packets",
);
/// See [`SPI`].
pub const KEY: ArgSpec = ArgSpec::required(
    "KEY",
    ArgType::Other("key in hexadecimal, or file:NAME"),
    "secret key, or the file it is in; for aes-gcm it ends with four bytes of salt",
)
.secret();
/// See [`SPI`].
pub const CIPHER: ArgSpec = ArgSpec::keyword(
    "CIPHER",
    ArgType::Choice(&["aes-gcm", "aes-cbc"]),
    "aes-gcm",
    "AES-GCM, or AES-CBC with HMAC-SHA-256",
);
/// See [`SPI`].
pub const AUTH_KEY: ArgSpec = ArgSpec::keyword(
    "AUTH_KEY",
    ArgType::Other("key in hexadecimal, or file:NAME"),
    "",
    "secret key of HMAC-SHA-256, 32 bytes, or the file it is in; for aes-cbc",
)
.secret();
/// See [`SPI`].
pub const MODE: ArgSpec = ArgSpec::keyword(
    "MODE",
    ArgType::Choice(&["tunnel", "transport"]),
    "tunnel",
    "whether whole packets are protected, or what they carry",
);
/// See [`SPI`].
pub const ESN: ArgSpec = ArgSpec::keyword(
    "ESN",
    ArgType::Bool,
    "false",
    "whether sequence numbers have 64 bits (RFC 4303 §2.2.1)",
);

/// What of a packet is protected (RFC 4303 §3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// All of it; it gets a new IP header.
    #[default]
    Tunnel,
    /// What follows its IP header.
    Transport,
}

/// The arguments of a security association, read.
#[derive(Default)]
pub struct Association {
    /// Its name in packets.
    pub spi: u32,
    /// What of a packet is protected.
    pub mode: Mode,
    /// Whether sequence numbers have 64 bits.
    pub esn: bool,
    /// Cipher and keys.
    pub suite: Option<Suite>,
}

impl Association {
    /// Reads the arguments. Mistakes are recorded in `args`; then there is no suite.
    pub fn read(args: &mut Args) -> Association {
        let mut read = Association::default();
        args.read("SPI", &mut read.spi).read("ESN", &mut read.esn);
        if args.has("SPI") && read.spi < 256 {
            args.error_in("SPI", "0 to 255 are reserved");
        }
        let modes = Choice(&[("tunnel", Mode::Tunnel), ("transport", Mode::Transport)]);
        args.read_with("MODE", modes, &mut read.mode);
        read.suite = read_suite(args);
        read
    }

    /// Whether the other is the same association: then what it knows of sequence numbers holds for this one.
    pub fn is_same(&self, other: &Association) -> bool {
        let identity = |a: &Association| a.suite.as_ref().map(Suite::identity);
        self.spi == other.spi && self.esn == other.esn && identity(self) == identity(other)
    }

    /// Refuses a key that another association of the router has. Two senders with one key of AES-GCM would soon send two
    /// packets with one IV, which gives the key of the ICV away (RFC 4106 §2).
    ///
    /// # Errors
    /// If there is such an association.
    pub fn claim_key(&self, sends: bool, cx: &mut Cx<'_>) -> Result<(), String> {
        let Some(suite) = self.suite.as_ref().filter(|suite| suite.is_counter_mode()) else { return Ok(()) };
        let mine = Claim { identity: suite.identity(), spi: self.spi, sends };
        let others = cx.router().ids().filter(|&id| id != cx.id());
        let other =
            others.filter_map(|id| Some((id, cx.exported::<Claim>(id)?))).find(|(_, c)| c.excludes(&mine));
        if let Some((id, _)) = other {
            let name = &cx.router().info(id).name;
            return Err(format!("KEY is that of '{name}' too: with AES-GCM every association needs its own"));
        }
        cx.export(Arc::new(mine));
        Ok(())
    }
}

/// That an element uses a key.
struct Claim {
    identity: [u8; 32],
    spi: u32,
    sends: bool,
}

impl Claim {
    /// Whether both cannot use the key: unless one sends what the other receives.
    fn excludes(&self, other: &Claim) -> bool {
        let one_way = self.spi == other.spi && self.sends != other.sends;
        self.identity == other.identity && !one_way
    }
}

fn read_suite(args: &mut Args) -> Option<Suite> {
    let is_cbc = args.get_with("CIPHER", Choice(&[("aes-gcm", false), ("aes-cbc", true)])).unwrap_or(false);
    let (key, auth_key): (Option<HexKey>, Option<HexKey>) = (args.get("KEY"), args.get("AUTH_KEY"));
    if !is_cbc {
        if args.has("AUTH_KEY") {
            args.error_in("AUTH_KEY", "AES-GCM needs none; did you mean CIPHER aes-cbc?");
        }
        return Suite::gcm(&key?.0).map_err(|e| args.error_in("KEY", e)).ok();
    }
    if !args.has("AUTH_KEY") {
        args.error("AUTH_KEY: missing, but needed for CIPHER aes-cbc");
    }
    let wrong = match Suite::cbc(&key?.0, &auth_key?.0) {
        Ok(suite) => return Some(suite),
        Err(wrong) => wrong,
    };
    for (name, error) in ["KEY", "AUTH_KEY"].into_iter().zip(wrong) {
        if let Some(error) = error {
            args.error_in(name, error);
        }
    }
    None
}
