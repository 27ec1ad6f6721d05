//! Work without the interpreter's lock, that can be watched and interrupted.
//!
//! Only the thread that called may handle signals, and it should not compute meanwhile: it waits for the threads that do, looks every now and then whether Ctrl-C was pressed, and shows progress.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use rosenblatt::{Progress, Watch};

/// Between two looks at signals.
const LOOK: Duration = Duration::from_millis(50);

/// What the threads that compute and the one that waits tell each other.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    progress: Mutex<Progress>,
}

impl Watch for &Shared {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = *progress;
        match self.stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// Runs `work` on so many threads. `watcher` is called now and then with pass, passes, visited, visits and the mistakes of the last pass, and stops the work by raising, or by returning true.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    threads: usize,
    watcher: Option<Bound<'_, PyAny>>,
    work: impl FnOnce(&mut dyn Watch) -> T + Send,
) -> PyResult<T> {
    let pool = pool(threads)?;
    let watcher = watcher.map(Bound::unbind);
    let shared = Shared::default();
    let (result, stopped) = py.detach(|| {
        let (done, finished) = channel();
        let (shared, watcher) = (&shared, &watcher);
        pool.in_place_scope(|scope| {
            scope.spawn(move |_| {
                let mut watch = shared;
                // Nobody waits any more only if the process comes to its end.
                let _ = done.send(work(&mut watch));
            });
            let mut stopped = None;
            loop {
                match finished.recv_timeout(LOOK) {
                    Ok(result) => break (Some(result), stopped),
                    Err(RecvTimeoutError::Disconnected) => break (None, stopped),
                    Err(RecvTimeoutError::Timeout) if stopped.is_some() => {}
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(reason) = look(shared, watcher.as_ref()) {
                            shared.stop.store(true, Ordering::Relaxed);
                            stopped = Some(reason);
                        }
                    }
                }
            }
        })
    });
    match (result, stopped) {
        (_, Some(reason)) => Err(reason),
        (Some(result), None) => Ok(result),
        (None, None) => Err(PyRuntimeError::new_err("the computation ended without a result")),
    }
}

fn look(shared: &Shared, watcher: Option<&Py<PyAny>>) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        let Some(watcher) = watcher else { return Ok(()) };
        let p = *shared.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let stop = watcher.call1(py, (p.pass, p.passes, p.visited, p.visits, p.last_mistakes))?;
        if stop.is_truthy(py)? {
            // The model as it is then, as at the end of a time limit.
            shared.stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    })
}

/// Threads are kept from call to call, for each number of them; a process that was forked has none of its parent's.
fn pool(threads: usize) -> PyResult<Arc<ThreadPool>> {
    static POOLS: Mutex<Option<Pools>> = Mutex::new(None);
    let process = std::process::id();
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if pools.as_ref().is_some_and(|pools| pools.process != process) {
        // To drop a pool is to wait for its threads, which this process has not.
        std::mem::forget(pools.take());
    }
    let of_size = &mut pools.get_or_insert_with(|| Pools { process, of_size: HashMap::new() }).of_size;
    if let Some(pool) = of_size.get(&threads) {
        return Ok(Arc::clone(pool));
    }
    let pool = ThreadPoolBuilder::new().num_threads(threads.max(1)).build();
    let pool = Arc::new(pool.map_err(|e| PyRuntimeError::new_err(format!("no threads: {e}")))?);
    of_size.insert(threads, Arc::clone(&pool));
    Ok(pool)
}

struct Pools {
    process: u32,
    of_size: HashMap<usize, Arc<ThreadPool>>,
}
