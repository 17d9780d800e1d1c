//! Names of ICMP types and codes, as Click spells them.

const TYPES: &[(u8, &str)] = &[
    (0, "echo-reply"),
    (3, "unreachable"),
    (4, "sourcequench"),
    (5, "redirect"),
    (8, "echo"),
    (9, "routeradvert"),
    (10, "routersolicit"),
    (11, "timeexceeded"),
    (12, "parameterproblem"),
    (13, "timestamp"),
    (14, "timestamp-reply"),
    (15, "inforeq"),
    (16, "inforeq-reply"),
    (17, "maskreq"),
    (18, "maskreq-reply"),
];

/// Names of the codes of a type, from code 0 on.
fn codes(icmp_type: u8) -> &'static [&'static str] {
    match icmp_type {
        3 => &[
            "net",
            "host",
            "protocol",
            "port",
            "needfrag",
            "srcroutefail",
            "netunknown",
            "hostunknown",
            "isolated",
            "netprohibited",
            "hostprohibited",
            "tosnet",
            "toshost",
            "filterprohibited",
            "hostprecedence",
            "precedencecutoff",
        ],
        5 => &["net", "host", "tosnet", "toshost"],
        11 => &["transit", "reassembly"],
        12 => &["erroratptr", "missingopt", "length"],
        _ => &[],
    }
}

/// The name of an ICMP type, if it has one.
pub fn icmp_type_name(icmp_type: u8) -> Option<&'static str> {
    TYPES.iter().find(|(number, _)| *number == icmp_type).map(|(_, name)| *name)
}

/// The ICMP type of this name.
pub fn icmp_type(name: &str) -> Option<u8> {
    TYPES.iter().find(|(_, candidate)| *candidate == name).map(|(number, _)| *number)
}

/// The name of a code of an ICMP type, if it has one.
pub fn icmp_code_name(icmp_type: u8, code: u8) -> Option<&'static str> {
    codes(icmp_type).get(usize::from(code)).copied()
}

/// The code of this name of an ICMP type.
pub fn icmp_code(icmp_type: u8, name: &str) -> Option<u8> {
    codes(icmp_type).iter().position(|candidate| *candidate == name).map(|code| code as u8)
}

/// Whether messages of this type carry an identifier and a sequence number.
pub fn icmp_has_sequence(icmp_type: u8) -> bool {
    matches!(icmp_type, 0 | 8 | 13..=16)
}
