//! Messages about packets that a device refuses: the first few are shown, for a flood of them would cost more than the
//! packets. The counts of drops tell the rest.

use clickwork_router::Cx;

/// How many are shown.
const SHOWN: u32 = 5;

/// The messages of one element.
#[derive(Default)]
pub struct Complaints(u32);

impl Complaints {
    /// Shows a message, unless enough have been shown.
    #[cold]
    pub fn say(&mut self, text: &str, cx: &Cx<'_>) {
        self.0 = self.0.saturating_add(1);
        if self.0 <= SHOWN {
            cx.chatter(text);
        }
    }
}
