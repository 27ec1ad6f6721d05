//! Learning from a stream.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rosenblatt::{Dataset, Features, Fit, Learner, Progress, Run, Status, Watch};
use serde::{Deserialize, Serialize};

use super::StreamError;
use super::checkpoint::{self, Checkpoint, DAMAGED};
use super::chunks::{Haste, LONGEST_LINE, Place};
use super::labels::LabelBook;
use super::ledger::{Ledger, unit};
use super::source::{Pace, Source};
use crate::error::ReadError;
use crate::write::write_through_file;
use crate::{Hashing, ReadOptions, SaveError, save};

/// How to learn from a stream.
///
/// ```
/// use rosenblatt::{Learner, Order, Perceptron};
/// use rosenblatt_io::{ReadOptions, StreamOptions, read, train_stream};
/// let learner = Perceptron { order: Order::Cyclic, ..Perceptron::averaged() };
/// let (read_options, options) = (ReadOptions::default(), StreamOptions::default());
/// let streamed = train_stream(&learner, "iris", &read_options, &options, &mut ())?;
/// let data = read("iris", &read_options)?.into_dataset()?;
/// assert_eq!(streamed.fit, learner.fit(&data, &mut ())?);
/// assert_eq!(streamed.progressive.last().unwrap().rows, 150);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct StreamOptions {
    /// The model's path. What has to be kept on disk is kept beside it, as `MODEL.cache` and `MODEL.checkpoint`.
    pub model: Option<PathBuf>,
    /// Write a checkpoint this often.
    pub checkpoint: Option<Duration>,
    /// Go on from the checkpoint, if there is one.
    pub resume: bool,
    /// Read the input once and keep no row: for streams without end. Nothing is measured afterwards.
    pub once: bool,
    /// All classes there will be. Otherwise learning begins again when one appears.
    pub classes: Option<Vec<String>>,
    /// Divide rows by their length first.
    pub unit: bool,
    /// Bytes of text that are read at a time; `None`: 1 MiB for each thread, 2 MiB at the least.
    pub block: Option<usize>,
}

impl StreamOptions {
    /// The largest block there is any use for.
    pub const LARGEST_BLOCK: usize = LONGEST_LINE;

    pub(super) fn cache_path(&self) -> Option<PathBuf> {
        self.model.as_deref().map(|model| beside(model, "cache"))
    }

    fn checkpoint_path(&self) -> Option<PathBuf> {
        self.model.as_deref().map(|model| beside(model, "checkpoint"))
    }

    /// The rows an older checkpoint goes with are about to be dropped.
    fn forget_checkpoint(&self) -> Result<(), StreamError> {
        let Some(path) = self.checkpoint_path().filter(|_| self.checkpoint.is_some()) else { return Ok(()) };
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StreamError::Checkpoint { path, reason: format!("cannot be removed: {error}") })
            }
            _ => Ok(()),
        }
    }

    /// Removes what was kept beside the model while it was learned.
    pub fn clean_up(&self) {
        let checkpoint = self.checkpoint_path();
        let new = checkpoint.as_deref().map(checkpoint::new);
        for path in [checkpoint, new, self.cache_path()].into_iter().flatten() {
            let _ = std::fs::remove_file(path);
        }
    }

    /// Writes the model as [`save`](crate::save) does; a process killed meanwhile leaves nothing that [`clean_up`](Self::clean_up) does not find.
    pub fn save(&self, fit: &Fit) -> Result<(), SaveError> {
        let (Some(model), Some(checkpoint)) = (&self.model, self.checkpoint_path()) else { return Ok(()) };
        let is_plain = std::fs::symlink_metadata(model).map_or(true, |there| there.is_file());
        if self.checkpoint.is_none() || !is_plain {
            return save(fit, model);
        }
        let bytes = fit.to_bytes()?;
        Ok(write_through_file(model, &checkpoint::new(&checkpoint), |out| out.write_all(&bytes))?)
    }
}

fn beside(model: &Path, kind: &str) -> PathBuf {
    let mut name = model.as_os_str().to_owned();
    name.push(".");
    name.push(kind);
    name.into()
}

/// Rows and wrong predictions up to some row of the first pass, each prediction made before its row was learned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    /// Rows so far.
    pub rows: u64,
    /// Mistakes so far.
    pub mistakes: u64,
}

/// What came of a stream.
#[derive(Clone, Debug)]
pub struct Streamed {
    /// The model and its report.
    pub fit: Fit,
    /// Progressive validation, at every doubling of the rows and at the end.
    pub progressive: Vec<Stretch>,
    /// The pass and the rows of it that had been learned from before, if a checkpoint was taken up.
    pub resumed: Option<(usize, u64)>,
    /// Bytes of rows kept on disk.
    pub cached: u64,
    /// Whether any row had a weight of its own.
    pub weighted: bool,
    /// How names share buckets, where they were hashed.
    pub hashing: Option<Hashing>,
}

/// Learns from a path, `-` or an embedded data set with no more than some blocks of rows in memory. The result has the same bytes
/// as learning from all rows at once in the order they stand, unless they were to be read once only.
pub fn train_stream(
    learner: &dyn Learner,
    data: &str,
    read: &ReadOptions,
    options: &StreamOptions,
    watch: &mut dyn Watch,
) -> Result<Streamed, StreamError> {
    let parameters = learner.parameters();
    if options.once {
        refuse_once(learner, options, parameters["passes"].as_u64())?;
    }
    let limit = parameters["time_limit"].as_f64().and_then(|limit| Duration::try_from_secs_f64(limit).ok());
    let (StreamOptions { classes, once, unit, .. }, name) = (options, learner.name());
    let saved = match options.checkpoint_path().filter(|_| options.resume) {
        Some(path) => Checkpoint::load(&path)?,
        None => {
            options.forget_checkpoint()?;
            None
        }
    };
    let ends = saved.as_ref().map(|saved| saved.cache.clone()).unwrap_or_default();
    let trainer = Trainer {
        learner,
        options,
        watch,
        data,
        settings: format!("{name} {read:?} {classes:?} {once} {unit}"),
        ledger: Ledger::new(options, ends)?,
        restarts: 0,
        progressive: Vec::new(),
        resumed: None,
        last_checkpoint: Instant::now(),
        deadline: limit.and_then(|limit| Instant::now().checked_add(limit)),
    };
    trainer.train(read, saved)
}

/// New classes that may appear before learning waits for the end of the input.
const MOST_RESTARTS: usize = 3;

struct Trainer<'a> {
    learner: &'a dyn Learner,
    options: &'a StreamOptions,
    watch: &'a mut dyn Watch,
    data: &'a str,
    settings: String,
    ledger: Ledger,
    /// How often learning had to begin again because a class appeared.
    restarts: usize,
    progressive: Vec<Stretch>,
    resumed: Option<(usize, u64)>,
    last_checkpoint: Instant,
    deadline: Option<Instant>,
}

/// What a run goes on with.
enum Stage<'a> {
    /// The input, from a place on.
    Input { source: &'a Source, place: Option<Place> },
    /// The kept rows, from a block on.
    Kept { block: usize, known: &'a Known },
}

/// What the input turned out to be.
struct Known {
    features: Features,
    hashing: Option<Hashing>,
    /// Whether its rows would be kept dense if they were read at once.
    dense: bool,
}

impl Trainer<'_> {
    fn train(mut self, read: &ReadOptions, saved: Option<Checkpoint>) -> Result<Streamed, StreamError> {
        let (mut run, mut position, mut block, mut known) = (None, None, 0, None);
        if let Some(saved) = saved {
            self.check_settings(&saved)?;
            run = saved.run.map(|bytes| self.learner.resume(&bytes)).transpose()?;
            self.resumed = run.as_ref().map(|run| (run.pass(), run.rows()));
            let labels = LabelBook::of(saved.labels, saved.mass).ok_or_else(|| self.refuse(DAMAGED))?;
            self.ledger.know(labels)?;
            (self.ledger.rows, self.ledger.entries) = (saved.rows, saved.entries);
            self.ledger.weighted = saved.weighted;
            (self.restarts, self.progressive) = (saved.restarts, saved.progressive);
            let features = saved.features.map(|json| serde_json::from_str(&json)).transpose();
            let features = features.map_err(|_| self.refuse(DAMAGED))?;
            known = features.map(|features| Known { features, hashing: saved.hashing, dense: saved.dense });
            (position, block) = (saved.position, saved.block);
        }
        let (mut run, known) = match (run, known) {
            (Some(run), Some(known)) => (run, known),
            (run, _) => {
                let StreamOptions { block, once, .. } = *self.options;
                let pace = Pace { block, haste: Haste::Full, once };
                let mut source = Source::open(self.data, read, pace, position)?;
                match self.read_and_learn(&mut source, run)? {
                    (run, known, None) => (run, known),
                    (run, known, Some(status)) => return self.finish(run, status, known),
                }
            }
        };
        let status = self.make_passes(&mut run, block, &known)?;
        self.finish(run, status, known)
    }

    /// The first pass, or what comes before it: a run, what the input was, and how the run ended if it did.
    fn read_and_learn(
        &mut self,
        source: &mut Source,
        mut run: Option<Run>,
    ) -> Result<(Run, Known, Option<Status>), StreamError> {
        let stopped = self.read(source, &mut run)?;
        if stopped.is_none() {
            let in_origin = |problem| ReadError::new(problem).in_origin(source.origin());
            self.ledger.check().map_err(in_origin)?;
        }
        let known = Known {
            features: source.features()?,
            hashing: source.hashing(),
            dense: source.is_dense(self.ledger.rows, self.ledger.entries),
        };
        match (run, stopped) {
            (Some(run), Some(status)) => Ok((run, known, Some(status))),
            (None, Some(_)) => Err(StreamError::TooEarly { rows: self.ledger.rows }),
            (Some(mut run), None) => {
                let ended = self.end_pass(&mut run);
                Ok((run, known, ended))
            }
            (None, None) => {
                let run = self.begin(known.features.count)?;
                Ok((run, known, None))
            }
        }
    }

    /// Once the input has been read nobody would notice that it is another.
    fn check_settings(&self, saved: &Checkpoint) -> Result<(), StreamError> {
        if self.data != saved.data {
            let reason = format!(
                "it was made from {}, and this is {}; give the same data, or start anew without --resume",
                shown(&saved.data),
                shown(self.data)
            );
            return Err(self.refuse(&reason));
        }
        if saved.features.is_some() && plain_length(self.data) != saved.length {
            let reason = format!("{} has changed since it was read; start anew without --resume", self.data);
            return Err(self.refuse(&reason));
        }
        match self.settings == saved.settings {
            true => Ok(()),
            false => Err(self.refuse(&format!("it was made with other options: {}", saved.settings))),
        }
    }

    fn refuse(&self, reason: &str) -> StreamError {
        let path = self.options.checkpoint_path().unwrap_or_default();
        StreamError::Checkpoint { path, reason: reason.to_owned() }
    }

    /// Reads to the end of the input, and learns as rows come where that cannot change the result. Says why it stopped before.
    fn read(&mut self, source: &mut Source, run: &mut Option<Run>) -> Result<Option<Status>, StreamError> {
        let mut next = source.next()?;
        while let Some(rows) = next {
            let place = source.place();
            next = match self.ledger.take_in(rows, source.origin())? {
                None => source.next()?,
                Some((block, changed)) => {
                    if changed && run.take().is_some() {
                        self.restarts += 1;
                    }
                    self.begin_early(run)?;
                    let progressive = &mut self.progressive;
                    let learn = || run.as_mut().map_or(Ok(()), |run| learn_noting(run, &block, progressive));
                    let (learned, next) = rayon::join(learn, || source.next());
                    learned?;
                    next?
                }
            };
            // The next rows are there already, but not learned from: whoever goes on reads them again.
            let stage = Stage::Input { source, place };
            let stopped = match next {
                None => None,
                Some(_) => self.pause(run.as_ref(), source.share(), stage)?,
            };
            if stopped.is_some() {
                return Ok(stopped);
            }
        }
        Ok(None)
    }

    /// Begins as soon as there are two classes, and learns from the rows kept so far, but for the last block, which is at hand.
    fn begin_early(&mut self, run: &mut Option<Run>) -> Result<(), StreamError> {
        let possible = self.learner.can_begin_early() && self.restarts <= MOST_RESTARTS;
        if run.is_some() || !possible || self.ledger.classes.len() < 2 {
            return Ok(());
        }
        let mut begun = self.begin(0)?;
        self.progressive.clear();
        for number in 0..self.ledger.n_blocks().saturating_sub(1) {
            let block = self.ledger.block(number)?;
            learn_noting(&mut begun, &block, &mut self.progressive)?;
        }
        *run = Some(begun);
        Ok(())
    }

    fn begin(&self, n_features: usize) -> Result<Run, StreamError> {
        Ok(self.learner.run(self.ledger.classes.clone(), n_features, Some(&self.ledger.mass()))?)
    }

    /// Passes over the kept rows until the run ends.
    fn make_passes(&mut self, run: &mut Run, mut block: usize, known: &Known) -> Result<Status, StreamError> {
        loop {
            let blocks = self.ledger.n_blocks();
            while block < blocks {
                let rows = self.ledger.block(block)?;
                match run.pass() {
                    1 => learn_noting(run, &rows, &mut self.progressive)?,
                    _ => run.learn(&rows)?,
                }
                block += 1;
                let share = Some(block as f64 / blocks as f64);
                if let Some(status) = self.pause(Some(run), share, Stage::Kept { block, known })? {
                    return Ok(status);
                }
            }
            block = 0;
            if let Some(status) = self.end_pass(run) {
                return Ok(status);
            }
        }
    }

    fn end_pass(&mut self, run: &mut Run) -> Option<Status> {
        self.note(run);
        run.end_pass()
    }

    /// Where the first pass has come to.
    fn note(&mut self, run: &Run) {
        let now = Stretch { rows: run.rows(), mistakes: run.mistakes() };
        if run.pass() == 1 && self.progressive.last() != Some(&now) {
            self.progressive.push(now);
        }
    }

    /// Between two blocks: a look at the clock and the watcher, and a checkpoint if one is due.
    fn pause(
        &mut self,
        run: Option<&Run>,
        share: Option<f64>,
        stage: Stage<'_>,
    ) -> Result<Option<Status>, StreamError> {
        let stopped = match self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            true => Some(Status::TimeLimit),
            false => self.report(run, share).is_break().then_some(Status::Interrupted),
        };
        let Some(every) = self.options.checkpoint else { return Ok(stopped) };
        if stopped.is_some() || self.last_checkpoint.elapsed() >= every {
            self.save(run, stage)?;
            self.last_checkpoint = Instant::now();
        }
        Ok(stopped)
    }

    fn report(&mut self, run: Option<&Run>, share: Option<f64>) -> ControlFlow<()> {
        let (pass, passes, visited) = match run {
            Some(run) => (run.pass(), run.limit(), run.rows()),
            None => (1, 1, self.ledger.rows),
        };
        let visits = share.filter(|&share| share > 0.0).map_or(0, |share| (visited as f64 / share) as u64);
        self.watch.progress(&Progress { pass, passes, visited, visits, last_mistakes: None })
    }

    fn save(&mut self, run: Option<&Run>, stage: Stage<'_>) -> Result<(), StreamError> {
        let Some(path) = self.options.checkpoint_path() else { return Ok(()) };
        let cache = self.ledger.sync()?;
        let (position, block, known) = match stage {
            Stage::Input { source, place } => (source.position(place), 0, None),
            Stage::Kept { block, known } => (None, block, Some(known)),
        };
        let checkpoint = Checkpoint {
            data: self.data.to_owned(),
            length: plain_length(self.data),
            settings: self.settings.clone(),
            position,
            labels: self.ledger.labels.texts().to_vec(),
            mass: self.ledger.labels.mass().to_vec(),
            rows: self.ledger.rows,
            entries: self.ledger.entries,
            weighted: self.ledger.weighted,
            cache,
            restarts: self.restarts,
            run: run.map(Run::to_bytes),
            block,
            features: known.and_then(|known| serde_json::to_string(&known.features).ok()),
            hashing: known.and_then(|known| known.hashing),
            dense: known.is_some_and(|known| known.dense),
            progressive: self.progressive.clone(),
        };
        checkpoint.save(&path)
    }

    fn finish(mut self, run: Run, status: Status, known: Known) -> Result<Streamed, StreamError> {
        self.note(&run);
        let Known { features, hashing, dense } = known;
        let stopped = matches!(status, Status::Interrupted | Status::TimeLimit);
        let mut measure = (self.ledger.keeps_rows() && !stopped).then(|| run.measure());
        if let Some(measure) = &mut measure {
            self.ledger.measure(measure)?;
            if dense {
                measure.stored(self.ledger.rows * features.count as u64);
            }
        }
        Ok(Streamed {
            fit: run.finish(status, features, self.options.unit.then(unit), measure),
            progressive: self.progressive,
            resumed: self.resumed,
            cached: self.ledger.cached_bytes(),
            weighted: self.ledger.weighted,
            hashing,
        })
    }
}

/// Bytes of a plain file.
fn plain_length(data: &str) -> Option<u64> {
    let file = std::fs::metadata(data).ok().filter(|file| data != "-" && file.is_file());
    file.map(|file| file.len())
}

fn shown(data: &str) -> &str {
    if data == "-" { "standard input" } else { data }
}

fn refuse_once(
    learner: &dyn Learner,
    options: &StreamOptions,
    passes: Option<u64>,
) -> Result<(), StreamError> {
    let refuse = |problem: &str| Err(StreamError::Unsuitable(problem.to_owned()));
    if options.classes.as_ref().is_none_or(|classes| classes.len() < 2) {
        return refuse("a stream that is read once needs to know all classes beforehand");
    }
    if passes != Some(1) {
        return refuse("a stream that is read once has one pass");
    }
    match learner.can_begin_early() {
        true => Ok(()),
        false => refuse("this learner has to see all rows before it begins, so it cannot read a stream once"),
    }
}

/// Learns from a block of the first pass and notes the mistakes at every doubling of the rows.
fn learn_noting(
    run: &mut Run,
    block: &Dataset<'_>,
    progressive: &mut Vec<Stretch>,
) -> Result<(), rosenblatt::Error> {
    let mut row = 0;
    while row < block.n_rows() {
        let doubling = (run.rows() + 1).next_power_of_two();
        let next = block.n_rows().min(row + (doubling - run.rows()) as usize);
        run.learn_rows(block, row..next)?;
        row = next;
        if run.rows() == doubling {
            progressive.push(Stretch { rows: doubling, mistakes: run.mistakes() });
        }
    }
    Ok(())
}
