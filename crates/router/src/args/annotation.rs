//! References to packet annotations: by Click's name (`PAINT`), by offset (`16`), or by offset and size (`16/1`).

use clickwork_packet::ANNO_SIZE;
use clickwork_packet::anno::{self, Anno};

use super::{ArgParser, BadValue, FromArg, Names};

/// Bytes of annotations in a packet.
const ANNOTATION_BYTES: u32 = ANNO_SIZE as u32;

/// References to annotations of `.0` bytes. A name for another size does not match; an offset alone has this size.
pub struct AnnoOfSize(pub u8);

impl ArgParser for AnnoOfSize {
    type Value = Anno;

    fn parse(&self, text: &str, names: &Names) -> Result<Anno, BadValue> {
        let anno = Anno::from_arg(text, names)?;
        if anno.size != 0 && anno.size != self.0 {
            return Err(format!("annotation has size {}, but size {} is needed", anno.size, self.0).into());
        }
        check(u32::from(anno.offset), u32::from(self.0))
    }
}

/// Any annotation. The size is 0 if the text gave an offset only.
impl FromArg for Anno {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        if let Some(anno) = names.anno(text) {
            return Ok(anno);
        }
        let (offset, size) = match text.split_once('/') {
            Some((offset, size)) => (offset, Some(u32::from_arg(size, names)?)),
            None => (text, None),
        };
        let offset = u32::from_arg(offset, names)?;
        if size == Some(0) || offset >= ANNOTATION_BYTES {
            return Err(BadValue::Mismatch);
        }
        check(offset, size.unwrap_or(0))
    }
}

fn check(offset: u32, size: u32) -> Result<Anno, BadValue> {
    if offset.saturating_add(size) > ANNOTATION_BYTES {
        return Err(format!("annotation ends beyond byte {ANNOTATION_BYTES}").into());
    }
    Ok(Anno::new(offset as u8, size as u8))
}

/// The annotation that Click gives this name.
pub(super) fn named(name: &str) -> Option<Anno> {
    TABLE.iter().find(|entry| entry.0 == name).map(|entry| entry.1)
}

/// What each of Click's names stands for.
const TABLE: [(&str, Anno); 22] = [
    ("AGGREGATE", anno::AGGREGATE),
    ("DST_IP", anno::DST_IP),
    ("DST_IP6", anno::DST_IP6),
    ("EXTRA_LENGTH", anno::EXTRA_LENGTH),
    ("EXTRA_PACKETS", anno::EXTRA_PACKETS),
    ("FIRST_TIMESTAMP", anno::FIRST_TIMESTAMP),
    ("FIX_IP_SRC", anno::FIX_IP_SRC),
    ("FWD_RATE", anno::FWD_RATE),
    ("GRID_ROUTE_CB", Anno::new(27, 1)),
    ("ICMP_PARAMPROB", anno::ICMP_PARAMPROB),
    ("IPREASSEMBLER", Anno::new(28, 4)),
    ("IPSEC_SA_DATA_REFERENCE", Anno::new(40, 8)),
    ("IPSEC_SPI", Anno::new(32, 4)),
    ("MISC_IP", anno::MISC_IP),
    ("PACKET_NUMBER", Anno::new(32, 4)),
    ("PAINT", anno::PAINT),
    ("PERFCTR", anno::PERFCTR),
    ("REV_RATE", anno::REV_RATE),
    ("SEQUENCE_NUMBER", anno::SEQUENCE_NUMBER),
    ("VLAN", anno::VLAN_TCI),
    ("VLAN_TCI", anno::VLAN_TCI),
    ("WIFI_EXTRA", anno::WIFI_EXTRA),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Anno, BadValue> {
        Anno::from_arg(text, &Names::default())
    }

    fn sized(size: u8, text: &str) -> Result<Anno, BadValue> {
        AnnoOfSize(size).parse(text, &Names::default())
    }

    #[test]
    fn names_offsets_and_sizes_are_read() {
        assert_eq!(read("PAINT"), Ok(Anno::new(16, 1)));
        assert_eq!(read("DST_IP"), Ok(Anno::new(0, 4)));
        assert_eq!(read("16/1"), Ok(Anno::new(16, 1)));
        assert_eq!(read("47"), Ok(Anno::new(47, 0)));
        assert_eq!(read("44/4"), Ok(Anno::new(44, 4)));
        for text in ["", "PAINTED", "48", "16/0", "-1", "16/", "/1", "45/4", "1/4294967295"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_must_agree() {
        assert_eq!(sized(1, "PAINT"), Ok(Anno::new(16, 1)));
        assert_eq!(sized(4, "20"), Ok(Anno::new(20, 4)));
        assert_eq!(sized(4, "PAINT").unwrap_err().to_string(), "annotation has size 1, but size 4 is needed");
        assert!(sized(4, "45").is_err());
        assert!(sized(1, "16/4").is_err());
    }

    #[test]
    fn each_named_annotation_lies_within_the_packet() {
        assert!(TABLE.iter().all(|(name, _)| read(name).is_ok_and(|anno| anno.offset + anno.size <= 48)));
    }
}
