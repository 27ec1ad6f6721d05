//! The progress bar and Ctrl-C.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use rosenblatt::{Progress, Watch};

static TRAINING: AtomicBool = AtomicBool::new(false);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static WRITING: AtomicBool = AtomicBool::new(false);

/// A shell's code for a program ended by Ctrl-C.
const ENDED_BY_INTERRUPT: i32 = 130;

/// Without a handler, or with one set before, Ctrl-C still ends the program.
fn handle_interrupts() {
    let _ = ctrlc::set_handler(|| {
        let again = INTERRUPTED.swap(true, Ordering::SeqCst);
        let busy = TRAINING.load(Ordering::SeqCst) && !again;
        if !busy && !WRITING.load(Ordering::SeqCst) {
            std::process::exit(ENDED_BY_INTERRUPT);
        }
    });
}

/// Writes to the end: an interrupt meanwhile would leave half a file behind.
pub(crate) fn uninterrupted<T>(write: impl FnOnce() -> T) -> T {
    handle_interrupts();
    WRITING.store(true, Ordering::SeqCst);
    let result = write();
    WRITING.store(false, Ordering::SeqCst);
    result
}

/// Whether Ctrl-C has been pressed since it means more than the end of the program.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Draws a bar on a terminal once a run takes noticeably long, and stops the run at Ctrl-C.
pub(crate) struct Bar {
    bar: Option<ProgressBar>,
    quiet: bool,
    start: Instant,
}

impl Bar {
    /// From here on the first Ctrl-C ends the training, the second the program.
    pub(crate) fn new(quiet: bool) -> Self {
        handle_interrupts();
        TRAINING.store(true, Ordering::SeqCst);
        Bar { bar: None, quiet: quiet || !std::io::stderr().is_terminal(), start: Instant::now() }
    }

    /// How many fits of a search are done.
    fn draw_search(&mut self, progress: &Progress) {
        let bar = self.bar.get_or_insert_with(|| {
            let template = "  {pos} of {len} fits {bar:30}  about {eta} left  (Ctrl-C keeps the best so far)";
            let bar = ProgressBar::new(progress.visits).with_elapsed(self.start.elapsed());
            bar.set_style(
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
            );
            bar
        });
        bar.set_length(progress.visits);
        bar.set_position(progress.visited);
    }

    fn draw(&mut self, progress: &Progress) {
        const STEPS: u64 = 10_000;
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template(match progress.visits {
                0 => "  {spinner} {msg}  {elapsed}  (Ctrl-C keeps the best so far)",
                _ => "  {msg} {bar:30} {percent}%  at most {eta} left  (Ctrl-C keeps the best so far)",
            });
            let bar = ProgressBar::new(STEPS).with_elapsed(self.start.elapsed());
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        if progress.visits == 0 {
            // A pipe does not say how much there is.
            bar.set_message(format!("{} rows", crate::format::count(progress.visited)));
            return;
        }
        let within = progress.visited as f64 / progress.visits.max(1) as f64;
        let share = (progress.pass as f64 - 1.0 + within.min(1.0)) / progress.passes.max(1) as f64;
        bar.set_position((share * STEPS as f64) as u64);
        let mistakes = progress.last_mistakes.map(|n| format!(", {n} mistakes in the last"));
        bar.set_message(format!(
            "pass {} of {}{}",
            progress.pass,
            progress.passes,
            mistakes.unwrap_or_default()
        ));
    }
}

impl Watch for Bar {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        if !self.quiet && self.start.elapsed() > Duration::from_millis(500) {
            self.draw(progress);
        }
        match INTERRUPTED.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn search(&mut self, progress: &Progress) -> ControlFlow<()> {
        if !self.quiet && self.start.elapsed() > Duration::from_millis(500) {
            self.draw_search(progress);
        }
        match INTERRUPTED.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// What ended the search shall not end the fit that it led to; another Ctrl-C does.
    fn next(&mut self) {
        INTERRUPTED.store(false, Ordering::SeqCst);
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        TRAINING.store(false, Ordering::SeqCst);
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
