//! VLAN tags (IEEE 802.1Q): the arguments and handlers that the VLAN elements share, and the bytes of a tag.

use crate::values::argument;
use clickwork_packet::{Packet, anno};
use clickwork_router::args::{Args, Bounded, FromArg, Names, Word};

/// Bytes of a tag, between the addresses and the type of a frame.
pub const TAG: usize = 4;
/// Bytes of the two addresses at the front of a frame.
pub const ADDRESSES: usize = 12;
/// The bits of a tag that number the VLAN.
pub const ID: u16 = 0x0FFF;

/// The tag control information that an element gives to packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// Whether it is the packet's annotation.
    pub from_annotation: bool,
    /// Otherwise this: priority in the upper three bits, VLAN number in the lower twelve.
    pub tci: u16,
}

impl Tag {
    /// Reads VLAN_TCI (if `anno` is allowed there, also that word), VLAN_ID and VLAN_PCP.
    pub fn read(args: &mut Args, anno: bool) -> Tag {
        let (mut id, mut priority) = (0u16, 0u16);
        args.read_with("VLAN_ID", Bounded(0u16..=ID), &mut id);
        args.read_with("VLAN_PCP", Bounded(0u16..=7), &mut priority);
        let text = args.get::<Word>("VLAN_TCI").map(|Word(text)| text);
        let from_annotation = anno && text.as_deref() == Some("ANNO");
        let mut base = id;
        if let Some(text) = text.filter(|_| !from_annotation) {
            match u16::from_arg(&text, args.names()) {
                Ok(tci) => base = tci,
                Err(reason) => args.error_in("VLAN_TCI", reason.to_string()),
            }
        }
        Tag { from_annotation, tci: base | priority << 13 }
    }

    /// The tag for a packet.
    pub fn of(self, p: &Packet) -> u16 {
        if self.from_annotation { annotation(p) } else { self.tci }
    }

    /// The tag for all packets, if they have the same.
    pub fn fixed(self) -> Option<u16> {
        (!self.from_annotation).then_some(self.tci)
    }

    /// The tag as handlers show it.
    pub fn show(self) -> String {
        if self.from_annotation { "ANNO".to_string() } else { self.tci.to_string() }
    }

    /// The VLAN's number as handlers show it: nothing if it is the annotation's.
    pub fn show_id(self) -> String {
        if self.from_annotation { String::new() } else { (self.tci & ID).to_string() }
    }

    /// The priority as handlers show it.
    pub fn show_priority(self) -> String {
        if self.from_annotation { String::new() } else { (self.tci >> 13).to_string() }
    }

    /// The arguments that give this tag.
    pub fn arguments(self) -> String {
        match self.from_annotation {
            true => "ANNO".to_string(),
            false => format!("VLAN_ID {}, VLAN_PCP {}", self.show_id(), self.show_priority()),
        }
    }

    /// Sets the whole tag, or that it is the annotation.
    pub fn set(&mut self, text: &str, names: &Names) -> Result<(), String> {
        let text = text.trim();
        if text != "ANNO" {
            self.tci = argument("VLAN_TCI", text, names)?;
        }
        self.from_annotation = text == "ANNO";
        Ok(())
    }

    /// Sets the VLAN's number.
    pub fn set_id(&mut self, text: &str) -> Result<(), String> {
        let id: u16 = argument("VLAN_ID", text, &Names::default())?;
        if id > ID {
            return Err(format!("VLAN_ID: out of range, bound {ID}"));
        }
        *self = Tag { from_annotation: false, tci: self.tci & !ID | id };
        Ok(())
    }

    /// Sets the priority.
    pub fn set_priority(&mut self, text: &str) -> Result<(), String> {
        let priority: u16 = argument("VLAN_PCP", text, &Names::default())?;
        if priority > 7 {
            return Err("VLAN_PCP: out of range, bound 7".to_string());
        }
        *self = Tag { from_annotation: false, tci: self.tci & 0x1FFF | priority << 13 };
        Ok(())
    }
}

/// The VLAN whose frames carry no tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Native(Option<u16>);

impl Default for Native {
    fn default() -> Native {
        Native(Some(0))
    }
}

impl Native {
    /// Reads NATIVE_VLAN; -1 stands for none.
    pub fn read(args: &mut Args) -> Native {
        let mut id = 0i16;
        args.read_with("NATIVE_VLAN", Bounded(-1i16..=ID as i16), &mut id);
        Native::of(id.into())
    }

    /// The VLAN of a number; negative ones stand for none.
    pub fn of(id: i32) -> Native {
        Native(u16::try_from(id).ok())
    }

    /// Whether frames with this tag belong to it.
    pub fn has(self, tci: u16) -> bool {
        self.0 == Some(tci & ID)
    }

    /// Its number.
    pub fn id(self) -> Option<u16> {
        self.0
    }

    /// As handlers show it: nothing if it is the default, and none as the number that no VLAN has.
    pub fn show(self) -> String {
        match self.0 {
            Some(0) => String::new(),
            id => id.unwrap_or(u16::MAX).to_string(),
        }
    }

    /// The argument that gives it, with a comma before it; nothing for the default.
    pub fn argument(self) -> String {
        match self.show() {
            default if default.is_empty() => default,
            id => format!(", NATIVE_VLAN {id}"),
        }
    }

    /// Sets the number; -1 stands for none.
    pub fn set(&mut self, text: &str) -> Result<(), String> {
        let id: i32 = argument("NATIVE_VLAN", text, &Names::default())?;
        if !(-1..=i32::from(ID)).contains(&id) {
            return Err(format!(
                "NATIVE_VLAN: out of range, bound {}",
                if id < 0 { -1 } else { i32::from(ID) }
            ));
        }
        *self = Native::of(id);
        Ok(())
    }
}

/// The handlers of an element of type `$t` with a tag in its field `tag`, for its class facts.
macro_rules! tag_handlers {
    ($t:ty) => {
        [
            clickwork_router::read_handler!("vlan_tci", "the whole tag", |e: &mut $t, _| e.tag.show())
                .and_write(clickwork_router::write_handler!("", "", |e: &mut $t, text, cx| e
                    .tag
                    .set(text, &cx.names()))),
            clickwork_router::read_handler!("vlan_id", "the VLAN's number", |e: &mut $t, _| e.tag.show_id())
                .and_write(clickwork_router::write_handler!("", "", |e: &mut $t, text, _| e
                    .tag
                    .set_id(text))),
            clickwork_router::read_handler!("vlan_pcp", "the priority", |e: &mut $t, _| e
                .tag
                .show_priority())
            .and_write(clickwork_router::write_handler!("", "", |e: &mut $t, text, _| e
                .tag
                .set_priority(text))),
        ]
    };
}
pub(super) use tag_handlers;

/// The packet's VLAN annotation, which is kept in network order.
pub fn annotation(p: &Packet) -> u16 {
    u16::from_be(p.anno_u16(anno::VLAN_TCI))
}

/// Sets the packet's VLAN annotation.
pub fn set_annotation(p: &mut Packet, tci: u16) {
    p.set_anno_u16(anno::VLAN_TCI, tci.to_be());
}

/// The big-endian number at `at`, if it is there.
pub fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*data.get(at..)?.first_chunk()?))
}
