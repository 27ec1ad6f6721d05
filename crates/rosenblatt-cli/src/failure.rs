//! Errors as users see them, and exit codes as scripts see them.

use std::io::{self, Write};
use std::process::ExitCode;

use rosenblatt::Error;
use rosenblatt_io::{ExportError, LoadError, ReadError, SaveError, StreamError, WriteError};
use serde_json::{Map, Value};

use crate::style::{ERROR, HINT};

/// Why the request was not carried out.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    code: u8,
    /// What scripts get beside message and hint.
    details: Box<Map<String, Value>>,
}

impl Failure {
    /// Bad usage or bad input.
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Failure::of(message, 2)
    }

    /// The request itself failed.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Failure::of(message, 1)
    }

    /// It was stopped, as by Ctrl-C, where neither 0 nor 1 would be true: what a shell says of a program that was ended so.
    pub(crate) fn stopped(message: impl Into<String>) -> Self {
        Failure::of(message, 130)
    }

    fn of(message: impl Into<String>, code: u8) -> Self {
        Failure { message: message.into(), hint: None, code, details: Box::default() }
    }

    pub(crate) fn with(self, details: Map<String, Value>) -> Self {
        Failure { details: Box::new(details), ..self }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn report(&self, json: bool) -> ExitCode {
        // Where nobody listens any more there is nobody to tell.
        let _ = self.write(json);
        ExitCode::from(self.code)
    }

    fn write(&self, json: bool) -> io::Result<()> {
        let mut stderr = anstream::stderr();
        writeln!(stderr, "{ERROR}error:{ERROR:#} {}", self.message)?;
        if let Some(hint) = &self.hint {
            writeln!(stderr, " {HINT}hint:{HINT:#} {hint}")?;
        }
        if json {
            let mut object = Map::clone(&self.details);
            object.insert("error".to_owned(), self.message.as_str().into());
            object.insert("hint".to_owned(), self.hint.as_deref().into());
            let object = Value::Object(object);
            writeln!(anstream::stdout(), "{object:#}")?;
        }
        Ok(())
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        let failure = Failure::bad(error.to_string());
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        let failure = Failure::bad(error.to_string());
        match error {
            LoadError::Foreign { source, .. } => Failure { hint: source.hint, ..failure },
            LoadError::Read { .. } | LoadError::Model { .. } => {
                failure.hint("`rosenblatt train DATA -o MODEL` makes a model")
            }
        }
    }
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Self {
        Failure { hint: error.hint.clone(), ..Failure::bad(error.to_string()) }
    }
}

impl From<StreamError> for Failure {
    fn from(error: StreamError) -> Self {
        match error {
            StreamError::Read(error) => error.into(),
            StreamError::Learn(error) => error.into(),
            StreamError::Write(error) => error.into(),
            StreamError::Checkpoint { .. } => Failure::bad(error.to_string())
                .hint("give the same data and options as before, or start anew without --resume"),
            StreamError::Cache { .. } | StreamError::TooEarly { .. } => Failure::failed(error.to_string()),
            StreamError::Unsuitable(problem) => Failure::bad(problem),
        }
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        Failure::bad(error.to_string())
    }
}

impl From<SaveError> for Failure {
    fn from(error: SaveError) -> Self {
        Failure::bad(error.to_string())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Param(error) => error.into(),
            // Nothing is wrong with what was given: the answer is no, or ours is wrong.
            Error::NotSeparable { .. } | Error::Inseparable { .. } | Error::Unproved => {
                Failure::failed(error.to_string())
            }
            other => Failure::bad(other.to_string()),
        }
    }
}

impl From<rosenblatt::DataError> for Failure {
    fn from(error: rosenblatt::DataError) -> Self {
        Failure::bad(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::failed(format!("cannot write: {error}"))
    }
}
