//! What a router shows of its configuration: as it was written, flat, and the names of its elements.
//!
//! Packets wait while a handler is read. So these texts are made once, with the router; who reads them gets a reference,
//! with the few configurations in between that have changed since, or that elements tell themselves.
//!
//! To those who may not see keys, a router whose elements have keys shows the flat configuration: what was written may
//! repeat them, in comments, in values that are defined, in what is commented out.

use crate::calls::says_config;
use crate::hiding::Hider;
use crate::pieces::Pieces;
use crate::router::{ElementId, Endpoint, Info, Link, Router};
use clickwork_lang::{Connection, Parts, Port, PrintedElement, print_config, print_with_places};
use clickwork_source::text::encode;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// The texts of a router.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// The configuration as it was written.
    source: Arc<[u8]>,
    /// The names of the elements, as the handler `list` says them.
    list: Arc<[u8]>,
    flat: Flat,
    /// The same without keys, when somebody asked for it.
    hidden: Option<Flat>,
    /// What hides keys, since somebody asked for it.
    hider: Option<Arc<Hider>>,
    /// Elements whose configuration may be another than when the text was made.
    varied: BTreeSet<ElementId>,
    /// Elements that can have keys.
    secret: Vec<ElementId>,
}

/// A flat configuration.
#[derive(Debug, Default)]
struct Flat {
    text: Arc<[u8]>,
    /// By element: where its configuration stands, with parentheses.
    places: Vec<Range<usize>>,
}

impl Shown {
    /// The texts of a new router.
    pub fn new(router: &Router) -> Shown {
        let having = |what: fn(&Info) -> bool| router.ids().filter(move |id| what(router.info(*id)));
        Shown {
            source: bytes_of(&router.source_text),
            list: list(router).into(),
            flat: Flat::new(router, |info| Cow::Borrowed(&info.config)),
            hidden: None,
            hider: None,
            varied: having(|info| says_config(info.class)).collect(),
            secret: having(|info| info.class.args.iter().any(|spec| spec.secret_from.is_some())).collect(),
        }
    }

    /// Takes note that the configuration of an element has changed.
    pub fn changed(&mut self, id: ElementId) {
        self.varied.insert(id);
        if !self.secret.is_empty() {
            (self.hidden, self.hider) = (None, None);
        }
    }

    /// The names of the elements.
    pub fn list(&self) -> Pieces {
        Pieces::from(&self.list)
    }

    /// Elements that can have keys.
    pub fn secret(&self) -> &[ElementId] {
        &self.secret
    }

    /// Elements whose configuration may be another than when the router was made.
    pub fn varied(&self) -> Vec<ElementId> {
        self.varied.iter().copied().collect()
    }
}

impl Flat {
    fn new<'a>(router: &'a Router, config: impl Fn(&'a Info) -> Cow<'a, str>) -> Flat {
        let port = |e: Endpoint| Port { element: e.element.index(), port: e.port as usize };
        let element = |info: &'a Info| PrintedElement {
            name: &info.name,
            class: &info.class_name,
            config: config(info),
            span: info.span,
        };
        let link = |l: &Link| Connection { from: port(l.from), to: port(l.to), span: l.span };
        let (text, places) = print_with_places(&Parts {
            elements: router.infos.iter().map(element).collect(),
            connections: router.links.iter().map(link).collect(),
            requirements: &router.requirements,
            defines: &[],
        });
        Flat::encoded(&text, places)
    }

    /// Places in text become places in its bytes.
    fn encoded(text: &str, mut places: Vec<Range<usize>>) -> Flat {
        let bytes = encode(text);
        if bytes.len() != text.len() {
            let (mut end, mut end_of_bytes) = (0, 0);
            for place in &mut places {
                let start = end_of_bytes + encode(&text[end..place.start]).len();
                end_of_bytes = start + encode(&text[place.clone()]).len();
                end = place.end;
                *place = start..end_of_bytes;
            }
        }
        Flat { text: bytes.into(), places }
    }

    /// The text, with other configurations of some elements, in their order.
    fn with(&self, others: impl IntoIterator<Item = (ElementId, String)>) -> Pieces {
        let (mut pieces, mut end) = (Pieces::default(), 0);
        for (id, config) in others {
            let place = &self.places[id.index()];
            let config = print_config(&config);
            let config = encode(&config);
            if self.text[place.clone()] != *config {
                pieces.share(&self.text, end..place.start);
                pieces.push(&config);
                end = place.end;
            }
        }
        pieces.share(&self.text, end..self.text.len());
        pieces
    }
}

/// The bytes of a text, which are most often the text itself.
fn bytes_of(text: &Arc<str>) -> Arc<[u8]> {
    match encode(text) {
        Cow::Borrowed(_) => Arc::clone(text).into(),
        Cow::Owned(bytes) => bytes.into(),
    }
}

fn list(router: &Router) -> Vec<u8> {
    let mut text = format!("{}\n", router.infos.len());
    for info in &router.infos {
        text.push_str(&info.name);
        text.push('\n');
    }
    encode(&text).into_owned()
}

impl Router {
    /// Whether keys must not be shown at present, and there may be some.
    pub(crate) fn guards_keys(&self) -> bool {
        self.hides_keys && !self.shown.secret.is_empty()
    }

    /// What hides the keys that there are at present.
    pub(crate) fn hider(&mut self) -> Arc<Hider> {
        let hider = self.shown.hider.take().unwrap_or_else(|| Arc::new(Hider::new(self)));
        self.shown.hider = Some(Arc::clone(&hider));
        hider
    }

    /// The configuration as it was written, or flat if that may show keys that must not be shown.
    pub(crate) fn source_shown(&mut self) -> Pieces {
        if self.guards_keys() { self.flat_shown() } else { Pieces::from(&self.shown.source) }
    }

    /// The flat configuration.
    pub(crate) fn flat_shown(&mut self) -> Pieces {
        let guards = self.guards_keys();
        if guards && self.shown.hidden.is_none() {
            let hider = self.hider();
            let hidden = Flat::new(self, |info| Cow::Owned(hider.config(info, &info.config)));
            self.shown.hidden = Some(hidden);
        }
        let varied = self.shown.varied();
        let mut present: Vec<_> = varied.into_iter().map(|id| (id, self.present_config(id))).collect();
        if guards && !present.is_empty() {
            let hider = self.hider();
            present.iter_mut().for_each(|(id, config)| *config = hider.config(self.info(*id), config));
        }
        let flat = self.shown.hidden.as_ref().filter(|_| guards).unwrap_or(&self.shown.flat);
        flat.with(present)
    }
}
