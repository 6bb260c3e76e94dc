//! The bar and the lines.

use std::{
    io::IsTerminal,
    sync::Arc,
    time::{Duration, Instant},
};

use aiperf_config::{PhasePlan, Ui};
use aiperf_engine::message::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::estimate::{Goal, Standing};
use crate::terminal::Terminal;

/// Time between two lines. A run that is over sooner prints none.
const LINE_INTERVAL: Duration = Duration::from_secs(5);
/// Redraws of the bar per second at most.
const REDRAWS: u8 = 4;
/// Steps of the bar.
const STEPS: u64 = 1000;
const TEMPLATE: &str = "{prefix} [{bar:16}] {wide_msg}";

/// Shows how the phases of a run get on.
pub(crate) struct ProgressDisplay {
    terminal: Arc<Terminal>,
    goals: Vec<Goal>,
    form: Form,
}

enum Form {
    Silent,
    Lines { last: Instant },
    Bars { current: Option<PhaseBar> },
}

/// The bar of a phase.
struct PhaseBar {
    phase: u32,
    bar: ProgressBar,
    /// What stays on the screen when the bar goes.
    last: String,
}

impl PhaseBar {
    fn remove(self, terminal: &Terminal) {
        terminal.set_bar(None);
        self.bar.finish_and_clear();
        terminal.line(&self.last);
    }
}

impl ProgressDisplay {
    /// A display in the form that the user asked for and standard error permits.
    pub(crate) fn new(ui: Ui, phases: &[PhasePlan], terminal: Arc<Terminal>) -> Self {
        let form = match ui {
            Ui::None => Form::Silent,
            Ui::Auto | Ui::Simple if std::io::stderr().is_terminal() => Form::Bars { current: None },
            Ui::Auto | Ui::Simple => Form::Lines { last: Instant::now() },
        };
        Self {
            terminal,
            goals: phases.iter().map(Goal::from).collect(),
            form,
        }
    }

    /// Shows where a phase stands.
    pub(crate) fn update(&mut self, phase: &str, progress: &Progress) {
        let goal = self.goals.get(progress.phase as usize).copied().unwrap_or_default();
        let standing = Standing::new(goal, progress);
        match &mut self.form {
            Form::Silent => {}
            Form::Lines { last } => {
                if last.elapsed() >= LINE_INTERVAL {
                    *last = Instant::now();
                    self.terminal.line(&format!("{phase}: {}", standing.text()));
                }
            }
            Form::Bars { current } => {
                let shown = match current {
                    Some(shown) if shown.phase == progress.phase => shown,
                    _ => {
                        if let Some(earlier) = current.take() {
                            earlier.remove(&self.terminal);
                        }
                        let bar = bar(phase);
                        self.terminal.set_bar(Some(bar.clone()));
                        current.insert(PhaseBar {
                            phase: progress.phase,
                            bar,
                            last: String::new(),
                        })
                    }
                };
                shown.last = format!("{phase}: {}", standing.text());
                let bar = &shown.bar;
                let text = standing.short_text();
                if bar.message() != text {
                    // Rounding down: a bar is full when the phase is over.
                    bar.set_position((standing.fraction.unwrap_or(0.0) * STEPS as f64) as u64);
                    bar.set_message(text);
                }
            }
        }
    }

    /// No more updates follow.
    pub(crate) fn finish(&mut self) {
        if let Form::Bars { current } = &mut self.form
            && let Some(shown) = current.take()
        {
            shown.remove(&self.terminal);
        }
    }
}

fn bar(phase: &str) -> ProgressBar {
    // Hidden until it looks as it shall.
    let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::hidden());
    bar.set_prefix(phase.to_owned());
    // The default style would do if this one could not be read.
    if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(REDRAWS));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_can_be_read() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
        let bar = bar("warmup");
        assert_eq!((bar.prefix().as_str(), bar.length()), ("warmup", Some(STEPS)));
    }
}
