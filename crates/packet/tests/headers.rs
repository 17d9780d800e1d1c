//! The header views against `etherparse` on built packets, and on bytes of any kind.

use clickwork_packet::addr::{EtherAddress, Ipv4Address, Ipv6Address};
use clickwork_packet::checksum::Sum;
use clickwork_packet::headers::*;
use etherparse::{Ipv4Slice, Ipv6HeaderSlice, PacketBuilder, SlicedPacket, TcpHeaderSlice, UdpHeaderSlice};
use proptest::prelude::*;

const MACS: ([u8; 6], [u8; 6]) = ([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);

fn built(build: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut frame = Vec::new();
    build(&mut frame);
    frame
}

/// Splits a frame at its Ethernet header and checks that header.
fn past_ethernet(frame: &[u8], ethertype: u16) -> &[u8] {
    let ethernet = Ethernet::new(frame).unwrap();
    assert_eq!((ethernet.source, ethernet.destination), (EtherAddress(MACS.0), EtherAddress(MACS.1)));
    assert_eq!(ethernet.ethertype(), ethertype);
    ethernet.payload()
}

proptest! {
    #[test]
    fn udp_over_ipv4(source: [u8; 4], destination: [u8; 4], ports: (u16, u16), payload: Vec<u8>) {
        let mut frame = built(|frame| {
            let builder = PacketBuilder::ethernet2(MACS.0, MACS.1).ipv4(source, destination, 33).udp(ports.0, ports.1);
            builder.write(frame, &payload).unwrap();
        });
        let padded = [&frame[..], &[0; 7]].concat();
        let ip = Ipv4::new(past_ethernet(&padded, ethernet::ethertype::IPV4)).unwrap();
        prop_assert_eq!((ip.version(), ip.ihl(), ip.ttl, ip.protocol), (4, 20, 33, ipv4::protocol::UDP));
        prop_assert_eq!((ip.source().octets(), ip.destination().octets()), (source, destination));
        prop_assert!(ip.checksum_is_right() && ip.options().next().is_none());
        let udp = Udp::new(ip.payload()).unwrap();
        prop_assert_eq!((udp.source_port(), udp.destination_port()), ports);
        prop_assert_eq!(udp.payload(), &payload);
        prop_assert!(udp.checksum_is_right(ip.pseudo_sum(udp.length())));

        // What we fill in is what etherparse filled in.
        let untouched = frame.clone();
        let mut ip = Ipv4Mut::new(&mut frame[14..]).unwrap();
        ip.set_checksum(0x1234);
        ip.fill_checksum();
        let pseudo = ip.pseudo_sum(8 + payload.len() as u16);
        let mut udp = UdpMut::new(ip.payload_mut()).unwrap();
        udp.set_checksum(0x1234);
        udp.fill_checksum(pseudo);
        prop_assert_eq!(frame, untouched);
    }

    #[test]
    fn tcp_over_ipv6_with_options(source: [u8; 16], destination: [u8; 16], seq: u32, ack: u32, window: u16, payload: Vec<u8>) {
        use etherparse::TcpOptionElement as Opt;
        let options = [Opt::MaximumSegmentSize(1460), Opt::Noop, Opt::WindowScale(7), Opt::Timestamp(1, 2)];
        let mut frame = built(|frame| {
            let builder = PacketBuilder::ethernet2(MACS.0, MACS.1).ipv6(source, destination, 9);
            let builder = builder.tcp(80, 4000, seq, window).ack(ack).syn().psh().options(&options).unwrap();
            builder.write(frame, &payload).unwrap();
        });
        let ip = Ipv6::new(past_ethernet(&frame, ethernet::ethertype::IPV6)).unwrap();
        prop_assert_eq!((ip.version(), ip.next_header, ip.hop_limit), (6, ipv4::protocol::TCP, 9));
        prop_assert_eq!((ip.source(), ip.destination()), (Ipv6Address::from_octets(source), Ipv6Address::from_octets(destination)));
        let tcp = Tcp::new(ip.payload()).unwrap();
        prop_assert_eq!((tcp.sequence(), tcp.acknowledgment(), tcp.window()), (seq, ack, window));
        prop_assert_eq!(tcp.flags, tcp::flag::SYN | tcp::flag::ACK | tcp::flag::PSH);
        prop_assert_eq!(tcp.payload(), &payload);
        let kinds: Vec<_> = tcp.options().map(|option| option.unwrap().kind).collect();
        prop_assert_eq!(kinds, vec![tcp::option::MAXIMUM_SEGMENT_SIZE, tcp::option::WINDOW_SCALE, tcp::option::TIMESTAMPS]);
        let pseudo = ip.pseudo_sum(ip.next_header, ip.payload().len() as u32);
        prop_assert!(tcp.checksum_is_right(pseudo));
        let untouched = frame.clone();
        TcpMut::new(&mut frame[54..]).unwrap().fill_checksum(pseudo);
        prop_assert_eq!(frame, untouched);
    }

    #[test]
    fn icmp_echo_over_both(id: u16, seq: u16, payload: Vec<u8>) {
        let v4 = built(|frame| {
            let builder = PacketBuilder::ipv4([1, 2, 3, 4], [5, 6, 7, 8], 1).icmpv4_echo_request(id, seq);
            builder.write(frame, &payload).unwrap();
        });
        let icmp = Icmp::new(Ipv4::new(&v4).unwrap().payload()).unwrap();
        prop_assert_eq!((icmp.icmp_type, icmp.code, icmp.identifier(), icmp.sequence()), (icmp::icmp_type::ECHO, 0, id, seq));
        prop_assert!(icmp.checksum_is_right());
        let v6 = built(|frame| {
            let builder = PacketBuilder::ipv6([1; 16], [2; 16], 1).icmpv6_echo_reply(id, seq);
            builder.write(frame, &payload).unwrap();
        });
        let ip = Ipv6::new(&v6).unwrap();
        let icmp = Icmp6::new(ip.payload()).unwrap();
        prop_assert_eq!((icmp.icmp_type, icmp.identifier(), icmp.sequence()), (icmp6::icmp6_type::ECHO_REPLY, id, seq));
        prop_assert!(icmp.checksum_is_right(ip.pseudo_sum(58, ip.payload().len() as u32)));
    }

    #[test]
    fn any_bytes_are_seen_alike(bytes in proptest::collection::vec(any::<u8>(), 0..100), version in 0u8..2) {
        let mut bytes = bytes;
        if let Some(first) = bytes.first_mut() {
            *first = *first & 0xF | if version == 0 { 0x40 } else { 0x60 };
        }
        if let Ok(slice) = Ipv4Slice::from_slice(&bytes) {
            let (ip, theirs) = (Ipv4::new(&bytes).unwrap(), slice.header());
            prop_assert_eq!(ip.total_len(), theirs.total_len());
            prop_assert_eq!(ip.fragment_offset(), usize::from(theirs.fragments_offset().value()) * 8);
            prop_assert_eq!((ip.dont_fragment(), ip.more_fragments()), (theirs.dont_fragment(), theirs.more_fragments()));
            prop_assert_eq!(ip.is_fragment(), theirs.is_fragmenting_payload());
            prop_assert_eq!((ip.tos, ip.identification()), (theirs.dcp().value() << 2 | theirs.ecn().value(), theirs.identification()));
            prop_assert_eq!(ip.option_bytes(), theirs.options());
            prop_assert_eq!(ip.checksum_is_right(), theirs.to_header().calc_header_checksum() == theirs.header_checksum());
        }
        let theirs = Ipv6HeaderSlice::from_slice(&bytes).ok();
        let ours = Ipv6::new(&bytes).filter(|ip| ip.version() == 6);
        prop_assert_eq!(ours.map(|ip| (ip.traffic_class(), ip.flow_label(), ip.payload_len_field())),
            theirs.map(|ip| (ip.traffic_class(), ip.flow_label().value(), ip.payload_length())));
        let theirs = TcpHeaderSlice::from_slice(&bytes).ok();
        prop_assert_eq!(Tcp::new(&bytes).map(|tcp| (tcp.data_offset(), tcp.urgent())),
            theirs.map(|tcp| (usize::from(tcp.data_offset()) * 4, tcp.urgent_pointer())));
        let theirs = UdpHeaderSlice::from_slice(&bytes).ok();
        prop_assert_eq!(Udp::new(&bytes).map(|udp| (udp.length(), udp.checksum())),
            theirs.map(|udp| (udp.length(), udp.checksum())));
    }

    #[test]
    fn views_never_reach_beyond_the_data(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
        fn check<H: Header>(bytes: &[u8]) {
            let mut copy = bytes.to_vec();
            let parts = View::<H>::new(bytes).map(|view| (view.option_bytes().len(), view.payload().len()));
            if let Some((options, payload)) = parts {
                assert!(size_of::<H>() + options + payload <= bytes.len());
            }
            let parts_mut = ViewMut::<H>::new(&mut copy).map(|mut view| (view.option_bytes_mut().len(), view.payload_mut().len()));
            assert_eq!(parts, parts_mut);
        }
        check::<EthernetHeader>(&bytes);
        check::<ArpHeader>(&bytes);
        check::<Ipv4Header>(&bytes);
        check::<Ipv6Header>(&bytes);
        check::<IcmpHeader>(&bytes);
        check::<Icmp6Header>(&bytes);
        check::<TcpHeader>(&bytes);
        check::<UdpHeader>(&bytes);
    }

    #[test]
    fn decrementing_the_ttl_keeps_the_checksum_right(ttl: u8, id: u16, source: [u8; 4]) {
        let mut header = Ipv4Header::default();
        (header.ttl, header.protocol) = (ttl, 17);
        header.set_identification(id);
        header.set_source(Ipv4Address::from_octets(source));
        let mut data: [u8; 20] = zerocopy::transmute!(header);
        let mut ip = Ipv4Mut::new(&mut data).unwrap();
        ip.fill_checksum();
        ip.decrement_ttl();
        prop_assert_eq!(ip.ttl, ttl.saturating_sub(1));
        prop_assert!(ip.as_view().checksum_is_right());
    }
}

#[test]
fn arp_is_what_etherparse_builds() {
    use etherparse::{ArpEthIpv4Packet, ArpOperation, EtherType};
    let packet = ArpEthIpv4Packet {
        operation: ArpOperation::REQUEST,
        sender_mac: MACS.0,
        sender_ipv4: [10, 0, 0, 1],
        target_mac: [0; 6],
        target_ipv4: [10, 0, 0, 2],
    };
    let frame = built(|frame| {
        PacketBuilder::ethernet2(MACS.0, MACS.1).arp(packet.into()).write(frame).unwrap();
    });
    let arp = Arp::new(past_ethernet(&frame, EtherType::ARP.0)).unwrap();
    let sender = (EtherAddress(MACS.0), Ipv4Address::new(10, 0, 0, 1));
    let target = (EtherAddress::default(), Ipv4Address::new(10, 0, 0, 2));
    assert_eq!(*arp.header(), ArpHeader::new(arp::operation::REQUEST, sender, target));
    assert_eq!((arp.sender_ip(), arp.target_ip()), (sender.1, target.1));

    let mut other_hardware = frame[14..].to_vec();
    other_hardware[1] = 6;
    assert!(Arp::new(&other_hardware).is_none());
}

#[test]
fn our_headers_are_what_etherparse_reads() {
    let mut data = vec![0; 14 + 24 + 8 + 3];
    *EthernetHeader::peek_mut(&mut data).unwrap() =
        EthernetHeader::new(EtherAddress(MACS.1), EtherAddress(MACS.0), ethernet::ethertype::IPV4);
    data[14..][..20].copy_from_slice(zerocopy::IntoBytes::as_bytes(&Ipv4Header::default()));
    let header = Ipv4Header::peek_mut(&mut data[14..]).unwrap();
    header.set_ihl(24);
    header.set_total_len(35);
    (header.ttl, header.protocol) = (64, ipv4::protocol::UDP);
    header.set_fragment_field(ipv4::DONT_FRAGMENT);
    header.set_source(Ipv4Address::new(1, 2, 3, 4));
    header.set_destination(Ipv4Address::new(5, 6, 7, 8));
    let mut ip = Ipv4Mut::new(&mut data[14..]).unwrap();
    ip.option_bytes_mut().copy_from_slice(&[ipv4::option::ROUTER_ALERT, 4, 0, 0]);
    ip.fill_checksum();
    let pseudo = ip.pseudo_sum(11);
    *UdpHeader::peek_mut(ip.payload_mut()).unwrap() = UdpHeader::new(7, 9, 11);
    UdpMut::new(ip.payload_mut()).unwrap().fill_checksum(pseudo);

    let packet = SlicedPacket::from_ethernet(&data).unwrap();
    let Some(etherparse::NetSlice::Ipv4(ip)) = packet.net else { panic!("not IPv4") };
    let header = ip.header().to_header();
    assert_eq!((header.source, header.destination), ([1, 2, 3, 4], [5, 6, 7, 8]));
    assert!(header.dont_fragment && header.header_checksum == header.calc_header_checksum());
    assert_eq!(header.options.as_slice(), [148, 4, 0, 0]);
    let Some(etherparse::TransportSlice::Udp(udp)) = packet.transport else { panic!("not UDP") };
    let expected = udp.to_header().calc_checksum_ipv4(&header, udp.payload()).unwrap();
    assert_eq!((udp.source_port(), udp.destination_port(), udp.checksum()), (7, 9, expected));
}

#[test]
fn a_udp_checksum_of_zero_is_sent_as_ones() {
    let mut data: [u8; 10] = [0, 0, 0, 0, 0, 10, 0, 0, 0xFF, 0xF5];
    let mut udp = UdpMut::new(&mut data).unwrap();
    udp.fill_checksum(Sum::new());
    assert_eq!(udp.checksum(), 0xFFFF);
    assert!(udp.as_view().checksum_is_right(Sum::new()));
}
