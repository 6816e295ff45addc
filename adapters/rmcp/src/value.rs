//! Authors' values as JSON.

use sealwax::Error;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::refusal::said;

pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| {
        let error = said(error);
        Error::InvalidArgument(
            format!("payload: expected a value that JSON can hold: {error}").into(),
        )
    })
}

/// Reads the value of a session.
pub(crate) fn read<T: DeserializeOwned>(value: &str) -> Result<T, Error> {
    let malformed = Error::Malformed("a state that is JSON of the sessions' type");
    serde_json::from_str(value).map_err(|_| malformed)
}
