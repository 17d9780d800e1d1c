//! The firewall and the packets of the benchmarks.

/// Packets of a kind.
pub const PACKETS: usize = 1024;

/// xorshift, so that every run sees the same packets.
pub struct Random(pub u32);

impl Random {
    /// A number below `bound`.
    pub fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0 % bound
    }

    /// One of the choices.
    pub fn among<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u32) as usize]
    }
}

/// An IP packet with what firewalls look at.
pub fn ip_packet(protocol: u8, source: u32, destination: u32, ports: [u16; 2], flags: u8) -> [u8; 40] {
    let mut packet = [0; 40];
    packet[0] = 0x45;
    packet[8] = 64;
    packet[9] = protocol;
    packet[12..16].copy_from_slice(&source.to_be_bytes());
    packet[16..20].copy_from_slice(&destination.to_be_bytes());
    packet[20..22].copy_from_slice(&ports[0].to_be_bytes());
    packet[22..24].copy_from_slice(&ports[1].to_be_bytes());
    packet[33] = flags;
    packet
}

/// The screened-subnet router of a small site: 10.0.0.0/8 inside, a bastion host, mail, news and name servers.
pub const FIREWALL: [&str; 17] = [
    "deny src net 10.0.0.0/8",
    "allow src host 192.0.2.1 && dst net 10.0.0.0/8 && tcp && src port www && dst port > 1023 && ack",
    "allow dst net 10.0.0.0/8 && tcp && src port 23 && dst port > 1023 && ack",
    "allow dst net 10.0.0.0/8 && tcp && src port 22 && ack",
    "allow dst net 10.0.0.0/8 && tcp && dst port 22",
    "allow dst net 10.0.0.0/8 && tcp && src port 21 && dst port > 1023 && ack",
    "allow dst net 10.0.0.0/8 && tcp && src port > 1023 && dst port > 1023 && ack",
    "allow src host 192.0.2.1 && dst net 10.0.0.0/8 && tcp && src port 21 && dst port > 1023 && ack",
    "allow src host 192.0.2.1 && dst net 10.0.0.0/8 && tcp && src port > 1023 && dst port > 1023",
    "allow src host 192.0.2.1 && dst host 10.0.0.25 && tcp && src port 25 && dst port > 1023 && ack",
    "allow src host 192.0.2.1 && dst host 10.0.0.25 && tcp && src port > 1023 && dst port 25",
    "allow src host 198.51.100.7 && dst host 10.0.0.119 && tcp && src port 119 && dst port > 1023 && ack",
    "allow src host 198.51.100.7 && dst host 10.0.0.119 && tcp && src port > 1023 && dst port 119",
    "allow src host 192.0.2.1 && dst host 10.0.0.53 && udp && src port 53 && dst port 53",
    "allow src host 192.0.2.1 && dst host 10.0.0.53 && tcp && src port 53 && dst port > 1023 && ack",
    "allow src host 192.0.2.1 && dst host 10.0.0.53 && tcp && src port > 1023 && dst port 53",
    "deny all",
];

/// Packets that differ in everything that the firewall asks.
pub fn firewall_traffic(random: &mut Random) -> Vec<[u8; 40]> {
    let (bastion, news, other) = (0xc000_0201, 0xc633_6407, 0x0808_0808);
    let inside = [0x0a00_0019, 0x0a00_0035, 0x0a00_0077, 0x0a01_0203];
    let ports = [20, 21, 22, 23, 25, 53, 80, 119, 1500, 30_000];
    (0..PACKETS)
        .map(|_| {
            let source = random.among(&[bastion, bastion, news, other, 0x0a00_0001]);
            let ports = [random.among(&ports), random.among(&ports)];
            let (protocol, flags) = (random.among(&[6, 6, 6, 17]), random.among(&[0x10, 0x02]));
            ip_packet(protocol, source, random.among(&inside), ports, flags)
        })
        .collect()
}

/// A last rule of the firewall for every packet: name service from the bastion host, what ASPLOS 2002 measures.
pub fn dns_traffic() -> Vec<[u8; 40]> {
    vec![ip_packet(6, 0xc000_0201, 0x0a00_0035, [4000, 53], 0x02); PACKETS]
}
