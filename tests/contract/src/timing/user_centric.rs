//! A fixed number of users, each of whom sends at its own steady pace (load-engine §3.7).

use std::collections::BTreeMap;

use aiperf_sdk::{
    PluginError, Result, Timing,
    timing::{Action, Event, OnFull, Pick, Step, TimingPlan},
};
use serde::Deserialize;

/// Options of the mode.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    users: u64,
}

/// The mode.
pub struct UserCentric {
    users: u64,
    rate: f64,
    session: u64,
    /// Starts to ask for with the next step.
    asked: Vec<Action>,
    /// Scheduled time of each user's last send.
    scheduled: BTreeMap<u64, u64>,
}

impl UserCentric {
    /// The mode for so many users.
    pub fn new(Options { users }: Options) -> Self {
        Self {
            users,
            rate: 0.0,
            session: 0,
            asked: Vec::new(),
            scheduled: BTreeMap::new(),
        }
    }

    /// `count` staggers of 1/rate in ns; users/rate is the period of a user.
    fn staggers_ns(&self, count: u64) -> u64 {
        (count as f64 * 1e9 / self.rate).round() as u64
    }

    fn spawn(&mut self, at_ns: u64, max_turns: Option<u32>) {
        self.scheduled.insert(self.session, at_ns);
        self.asked.push(Action::Start {
            session: self.session,
            pick: Pick::Next,
            at_ns,
            on_full: OnFull::Wait,
            max_turns,
            max_tokens: None,
            first_turn: 0,
            tree: None,
        });
        self.session += 1;
    }
}

/// Mean number of turns, half to even.
fn mean_turns(ends: &[u32]) -> u64 {
    let turns = ends.last().map_or(0.0, |&end| f64::from(end));
    (turns / ends.len().max(1) as f64).round_ties_even() as u64
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Timing for UserCentric {
    fn start(&mut self, plan: &TimingPlan) -> Result<()> {
        self.rate = plan
            .rate
            .ok_or_else(|| PluginError::input("user_centric needs a rate"))?;
        let users = self.users;
        let length = mean_turns(&plan.dataset.ends).saturating_sub(1).max(1);
        let stride = if users <= 2 {
            1
        } else {
            (2..).find(|&stride| gcd(stride, users) == 1).unwrap_or(1)
        };
        for user in 0..users {
            let age = (users - user) * length;
            let turns = length.saturating_sub(age / users);
            if turns == 0 {
                self.session += 1;
                continue;
            }
            let slot = if gcd(users, length) > 1 {
                user * stride % users
            } else {
                age % users
            };
            let at_ns = plan.start_ns + self.staggers_ns(users - slot);
            self.spawn(at_ns, u32::try_from(turns).ok());
        }
        self.spawn(plan.start_ns, None);
        Ok(())
    }

    fn step(&mut self, now_ns: u64, events: &[Event]) -> Result<Step> {
        let period_ns = self.staggers_ns(self.users);
        for event in events {
            match *event {
                // Its replacement comes when it would be through, whether or not it is.
                Event::Started { session, turns, .. } => {
                    let at_ns = self.scheduled.get(&session).copied().unwrap_or(now_ns);
                    self.spawn(at_ns + u64::from(turns) * period_ns, None);
                }
                Event::Ready {
                    session, turn, at_ns, ..
                } => {
                    if let Some(scheduled_ns) = self.scheduled.get_mut(&session) {
                        *scheduled_ns = at_ns.max(*scheduled_ns + period_ns);
                        let at_ns = *scheduled_ns;
                        self.asked.push(Action::Continue { session, turn, at_ns });
                    }
                }
                Event::Ended { session, .. } => {
                    self.scheduled.remove(&session);
                }
                _ => {}
            }
        }
        Ok(Step {
            actions: std::mem::take(&mut self.asked),
            next_wake_ns: None,
        })
    }
}
