//! SATable: security associations that no route has.

use super::sa::{Association, Store};
use crate::values::parse;
use clickwork_router::args::{Args, Names};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};
use std::sync::Arc;

/// The class facts.
pub static CLASS: Class = Class {
    help: "holds security associations of the old IPsec elements",
    manual: "For old configurations; IPsecESPEncrypt and IPsecESPDecrypt hold their own associations.\n\n\
             Security associations for packets that are received, by SPI, which handlers add and remove: for a program that \
             negotiates keys. A RadixIPsecLookup looks here for an SPI that none of its routes has. The table begins empty, \
             and stays over a hot swap. Its keys can be read with the handler 'table'.",
    example: "Idle -> RadixIPsecLookup(0/0 2) => Discard, Discard, Discard; table :: SATable; \
              Script(write table.add 7 \\<000102030405060708090a0b0c0d0e0f> \\<101112131415161718191a1b1c1d1e1f> 1 32, \
                     print table.table, stop)",
    ports: "0/0",
    handlers: &[
        write_handler!(
            "add",
            "adds an association: SPI ENCRYPT_KEY AUTH_KEY REPLAY OOSIZE",
            |e: &mut SATable, text, cx| e.add(text, cx)
        ),
        write_handler!("remove", "removes the association for an SPI", |e: &mut SATable, text, _| {
            let spi: u32 = parse(text, "unsigned integer")?;
            if e.store.remove(spi) { Ok(()) } else { Err("No such entry".to_string()) }
        }),
        read_handler!("table", "all associations, with their keys", |e: &mut SATable, _| e.store.dump())
            .secret(),
    ],
    ..Class::new("SATable", "ipsec", || Box::<SATable>::default())
};

#[derive(Default)]
struct SATable {
    store: Arc<Store>,
}

impl SATable {
    fn add(&self, text: &str, cx: &Cx<'_>) -> Result<(), String> {
        let (spi, association) = Association::parse(text, &Names::default(), |words| cx.chatter(words))
            .ok_or("expected 'SPI ENCRYPT_KEY AUTH_KEY REPLAY OOSIZE'")?;
        if spi == 0 || association.start == 0 {
            return Err("SPI and REPLAY must not be 0".to_string());
        }
        if self.store.incoming(spi).is_some() {
            return Err(format!("there is an association for SPI {spi}"));
        }
        let number = self.store.add(spi, association);
        self.store.receive(number, |_| {});
        Ok(())
    }
}

impl Element for SATable {
    fn configure(&mut self, _: &mut Args, cx: &mut Cx<'_>) {
        cx.export(Arc::clone(&self.store));
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<SATable>(old) {
            self.store.take_all(&old.store);
        }
    }
}
