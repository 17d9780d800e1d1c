//! Two stacks with the TCP that is linked in, connected to each other: what `stack/` adds to the protocol.

mod connect;
mod hostile;
mod icmp;
mod limits;
mod pair;
mod transfer;
mod urgent;
mod wire;
