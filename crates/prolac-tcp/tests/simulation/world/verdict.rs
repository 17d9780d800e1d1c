//! What must hold while a run goes on, and at its end.

use super::World;
use crate::scenario::Conversation;
use crate::user::{End, Leave, User};

/// Nobody waits longer than this without progress.
const PATIENCE: u64 = 3 * 3600 * 1_000_000;

impl World<'_> {
    /// A user whose peer cannot answer any more gives up; any other must make progress.
    pub(super) fn lose_patience(&mut self, nothing_comes: bool) -> Result<(), String> {
        for index in 0..self.users.len() {
            let user = &self.users[index];
            let same = |other: &&User| other.conversation == user.conversation;
            let progress = self.users.iter().filter(same).map(|other| other.last_progress).max();
            let waits = self.now - progress.unwrap_or(0) > PATIENCE;
            if user.ended.is_some() || !(waits || nothing_comes) {
                continue;
            }
            let peer = self.users.iter().find(|u| u.conversation == user.conversation && u.end != user.end);
            let excused = peer.is_none_or(|peer| peer.ended.is_some());
            if !excused || !self.may_fail(user.conversation) {
                return Err(format!("it hangs: {}", self.state()));
            }
            let user = &mut self.users[index];
            user.give_up(&mut self.stacks[user.end], self.now);
        }
        Ok(())
    }

    fn conversation(&self, index: usize) -> &Conversation {
        &self.scenario.conversations[index]
    }

    /// Whether an error is nothing strange.
    fn may_fail(&self, conversation: usize) -> bool {
        let c = self.conversation(conversation);
        let leaves = [0, 1].iter().any(|&end| match c.plans[end].leave {
            Leave::Abort(_) => true,
            Leave::AtOnce => c.plans[1 - end].total > 0,
            _ => false,
        });
        leaves || self.scenario.may_break()
    }

    /// Every user has read all, or was told of an error that the scenario allows; nothing is left.
    pub(super) fn check_end(&mut self) -> Result<(), String> {
        for user in &self.users {
            self.check_user(user).map_err(|error| {
                format!("conversation {}, end {}: {error}; {}", user.conversation, user.end, self.state())
            })?;
        }
        if self.scenario.is_clean() && self.wire.retransmitted > 0 {
            return Err(format!("{} bytes were sent again on a clean path", self.wire.retransmitted));
        }
        for (end, stack) in self.stacks.iter().enumerate() {
            let (connections, segments) = (stack.connections().count(), stack.segments_in_use());
            if connections + segments > 0 {
                return Err(format!("end {end} is left with {connections} connections, {segments} segments"));
            }
        }
        Ok(())
    }

    fn check_user(&self, user: &User) -> Result<(), String> {
        let total = self.conversation(user.conversation).plans[1 - user.end].total;
        // One who was told of an error while it wrote closes in good order.
        let peer = self.users.iter().find(|u| u.conversation == user.conversation && u.end != user.end);
        let failed = peer.filter(|peer| matches!(peer.ended, Some(End::Failed(_)))).map(|peer| peer.written);
        if user.saw_end && user.read != total && Some(user.read) != failed {
            return Err(format!("it read to the end: {} of {total} bytes", user.read));
        }
        match user.ended {
            None => Err("it does not end".to_string()),
            Some(End::Failed(error)) if !self.may_fail(user.conversation) => Err(format!("{error:?}")),
            Some(End::Complete) if !user.saw_end => Err("complete without an end".to_string()),
            _ => Ok(()),
        }
    }

    /// Where everybody stands, for messages.
    pub(super) fn state(&self) -> String {
        let users = self.users.iter().map(|user| {
            let state = self.stacks[user.end].state(user.id);
            format!(
                "[{}.{} wrote {}/{} read {} {:?} {state:?}]",
                user.conversation, user.end, user.written, user.plan.total, user.read, user.ended
            )
        });
        users.collect::<Vec<_>>().join(" ")
    }
}
