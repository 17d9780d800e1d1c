//! Hot swap: a new router takes the place of a running one and inherits what it knows.
//!
//! The new router is built and initialised completely before anything of the old one is touched, so a bad configuration
//! changes nothing. Then each element with the same name and class takes over its predecessor's state.

use crate::router::{ElementId, Router};
use std::fmt;
use std::sync::Arc;

type Make = dyn Fn(&Router, &str) -> Result<Router, String> + Send + Sync;

/// Makes the router that is to replace a running one, of the text of its configuration; or says what is wrong with it.
/// Whoever runs the router installs it, since only they know what a configuration is made of.
#[derive(Clone)]
pub struct Reload(Arc<Make>);

impl Reload {
    /// By the function `make`, which sees the running router. Its clock goes on in the new one: [`Clock::continued`].
    ///
    /// [`Clock::continued`]: crate::Clock::continued
    pub fn new(make: impl Fn(&Router, &str) -> Result<Router, String> + Send + Sync + 'static) -> Reload {
        Reload(Arc::new(make))
    }
}

impl fmt::Debug for Reload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reload")
    }
}

impl Router {
    /// Whether the configuration may be replaced: then there is a write handler `hotconfig`.
    pub fn can_reload(&self) -> bool {
        self.reload.is_some()
    }

    /// Makes a router of a new configuration, to replace this one as soon as no element runs: then the driver returns
    /// with [`Outcome::HotSwap`](crate::Outcome::HotSwap). A request that has not been served yet is forgotten.
    ///
    /// # Errors
    /// What is wrong with the configuration, or that the router may not be replaced. Nothing has changed then.
    pub fn request_hot_swap(&mut self, config: &str) -> Result<(), String> {
        let Some(reload) = self.reload.clone() else {
            return Err("the configuration of this router cannot be replaced".to_string());
        };
        let mut new = reload.0(self, config)?;
        new.reload = Some(reload);
        if let Some(mut unused) = self.hot_swap.replace(Box::new(new)) {
            unused.cleanup();
        }
        Ok(())
    }

    /// The router that is to replace this one.
    pub fn take_hot_swap(&mut self) -> Option<Router> {
        self.hot_swap.take().map(|b| *b)
    }

    /// Takes over state from the router that this one replaces: clock, counts, and the state of each element that has a
    /// predecessor of the same name and class. Returns the names of those that did.
    pub fn take_over(&mut self, mut old: Router) -> Vec<String> {
        self.clock = std::mem::replace(&mut old.clock, crate::clock::Clock::real());
        let mut taken = Vec::new();
        for id in self.ids() {
            if let Some(before) = old.find(&self.info(id).name).filter(|&b| self.same_class(id, &old, b)) {
                self.take_element(id, &mut old, before);
                taken.push(self.info(id).name.clone());
            }
        }
        old.cleanup();
        taken
    }

    fn same_class(&self, id: ElementId, old: &Router, before: ElementId) -> bool {
        std::ptr::eq(self.info(id).class, old.info(before).class)
    }

    fn take_element(&mut self, id: ElementId, old: &mut Router, before: ElementId) {
        let Some(predecessor) = &mut old.elements[before.index()] else { return };
        self.with_element(id, |e, cx| e.take_state(&mut **predecessor, cx));
        let (packets, drops) =
            (old.info(before).packets, std::mem::take(&mut old.infos[before.index()].drops));
        let info = &mut self.infos[id.index()];
        info.packets += packets;
        info.drops.extend(drops);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Driver, Options, Outcome, Registry, build};
    use clickwork_lang::Graph;
    use clickwork_source::Sources;

    fn empty(text: &str) -> Router {
        let options = Options { source_text: text.to_string(), ..Options::default() };
        let built = build(&Graph::default(), &Sources::new(), &Arc::new(Registry::new()), options);
        built.expect("nothing can be wrong with it").0
    }

    fn reload() -> Reload {
        Reload::new(|_, text| if text == "bad" { Err("it is bad".to_string()) } else { Ok(empty(text)) })
    }

    #[test]
    fn a_bad_configuration_is_refused_with_its_reason_and_changes_nothing() {
        let mut router = empty("old");
        assert!(router.write("hotconfig", "new").unwrap_err().to_string().contains("no 'hotconfig' handler"));
        router.reload = Some(reload());
        assert_eq!(router.write("hotconfig", "bad").unwrap_err().to_string(), "it is bad");
        assert!(router.take_hot_swap().is_none());
    }

    #[test]
    fn a_good_configuration_waits_for_the_driver_and_can_itself_be_replaced() {
        let mut router = empty("old");
        router.reload = Some(reload());
        router.write("hotconfig", "new").unwrap();
        router.write("hotconfig", "newer").unwrap();
        assert_eq!(Driver::default().run(&mut router), Outcome::HotSwap);
        let new = router.take_hot_swap().unwrap();
        assert_eq!(new.source_text(), "newer");
        assert!(new.can_reload() && router.take_hot_swap().is_none());
    }
}
