//! The handler of a transcript, on the engine: it does what the driver tells it.

use sealwax_mcp::machine::{Answer, kind};
use serde_json::{Value, json};

use crate::exchange::Exchange;
use crate::frames::Texts;
use crate::{Program, say};

/// What a handler has of its request.
pub struct Handler<'a> {
    pub exchange: &'a mut Exchange,
    /// The state that was opened, or none; `None` where a request carries no state.
    pub state: Option<Value>,
    pub session: Value,
}

/// The outcome of an operation, or why there is none.
type Outcome = Result<Value, Value>;

impl Handler<'_> {
    /// Returns the handler's result; `None` where it throws.
    pub fn run(&mut self, program: &mut Program, mut seen: Value) -> Option<Value> {
        program.handlers += 1;
        seen["id"] = program.handlers.into();
        say(json!({"handler": seen}));
        loop {
            let told = program.next().unwrap();
            match told["do"].as_str().unwrap() {
                // Another message comes meanwhile.
                _ if told["to"] != seen["id"] => program.act(&told),
                "return" => return Some(self.with_states(&told["result"])),
                "throw" => return None,
                name => {
                    let done = self.operate(program, name, &told["given"], &told["options"]);
                    say(json!({"done": done.unwrap_or_else(|why| why)}));
                }
            }
        }
    }

    /// Replaces each `{"$state": value}` by what an author gets for that value.
    fn with_states(&mut self, value: &Value) -> Value {
        match value {
            Value::Object(object) if object.contains_key("$state") => {
                let state = object["$state"].to_string();
                self.tell(kind::SEAL_STATE, &[Some(state.as_bytes())])
                    .unwrap()
            }
            Value::Object(object) => object
                .iter()
                .map(|(name, value)| (name.clone(), self.with_states(value)))
                .collect(),
            Value::Array(items) => items.iter().map(|item| self.with_states(item)).collect(),
            other => other.clone(),
        }
    }

    fn tell(&mut self, kind: u8, texts: Texts<'_>) -> Outcome {
        match self.exchange.tell(kind, 0, texts) {
            Ok(Answer {
                texts: [text, _], ..
            }) => Ok(text.into()),
            Err(error) => Err(json!({"error": error.code()})),
        }
    }

    fn operate(
        &mut self,
        program: &mut Program,
        name: &str,
        given: &Value,
        options: &Value,
    ) -> Outcome {
        match name {
            "state" => self
                .state
                .clone()
                .ok_or_else(|| json!({"error": "invalid_argument"})),
            "idempotencyKey" => self.tell(kind::IDEMPOTENCY_KEY, &[]),
            "sessionId" => match &self.session["ulid"] {
                Value::Null => Ok(program.session_id.take().into()),
                own => Ok(own.clone()),
            },
            "session" => Ok(session_of(&self.session)),
            "write" => {
                let value = given[0].to_string();
                self.tell(kind::WRITE, &[Some(value.as_bytes())])?;
                self.session["value"] = value.into();
                Ok("ok".into())
            }
            "fork" => {
                let metadata = self.tell(kind::FORK, &[])?;
                Ok(serde_json::from_str(metadata.as_str().unwrap()).unwrap())
            }
            _ => self.handled(program, name, given, options),
        }
    }

    fn handled(
        &self,
        program: &mut Program,
        name: &str,
        given: &Value,
        options: &Value,
    ) -> Outcome {
        let mut operation = options.clone();
        for unknown in ["as", "argument"] {
            operation.as_object_mut().unwrap().remove(unknown);
        }
        let is_cursor = name == "cursor" || name == "position";
        operation["type"] = match &options["argument"] {
            Value::Null if is_cursor => "cursor".into(),
            argument if is_cursor => argument.clone(),
            _ => given[0].clone(),
        };
        let mut value = &given[1];
        operation["op"] = match name {
            "cursor" => {
                value = &given[0];
                "cursor"
            }
            "renew" => {
                operation["op"] = "open".into();
                operation["handle"] = client_value(value);
                operation.as_object_mut().unwrap().remove("maxAge");
                operation["predecessor"] =
                    self.drive(program, &operation, &Value::Null)?["predecessor"].clone();
                operation["handle"] = Value::Null;
                value = &given[2];
                "seal"
            }
            "link" => "sealLink",
            "follow" => "openLink",
            other => other,
        }
        .into();
        if name == "mintShort" {
            operation["number"] = value.clone();
        } else if ["check", "checkShort", "open", "end", "follow"].contains(&name) {
            operation["handle"] = client_value(value);
        }
        let made = self.drive(program, &operation, value)?;
        // A token that holds its state tells its times, whether made or opened.
        if ["seal", "renew", "open"].contains(&name) {
            let number = |of: &str, name: &str| made[of][name].as_u64();
            let [issued, expires] = ["issuedAt", "expiresAt"].map(|name| number("times", name));
            assert!(number("predecessor", "startedAt") <= issued && issued < expires);
        }
        let held = made["value"].as_str();
        let held = held.map(|value| serde_json::from_str::<Value>(value).unwrap());
        Ok(match held {
            _ if name == "end" => "ok".into(),
            _ if name == "position" => json!({ "position": held }),
            Some(_) if name == "follow" => json!({"value": held, "principal": made["principal"]}),
            Some(_) => json!({"value": held, "generation": made["predecessor"]["generation"]}),
            None => json!({"handle": made["handle"]}),
        })
    }

    fn drive(&self, program: &mut Program, operation: &Value, value: &Value) -> Outcome {
        // Links are opened outside of any request.
        let parent = match operation["op"] == "openLink" {
            true => &program.stage().guard,
            false => &self.exchange.machine,
        };
        let has_value = ["seal", "sealLink", "cursor"]
            .map(Value::from)
            .contains(&operation["op"]);
        let [operation, value] = [operation, value].map(Value::to_string);
        let texts = [
            Some(operation.as_bytes()),
            Some(value.as_bytes()).filter(|_| has_value),
        ];
        let (mut acting, step) = Exchange::begun(parent, kind::HANDLE, 0, &texts);
        let step = acting.driven(program, step, &mut Value::Null);
        if step["step"] == "done" {
            return Ok(step);
        }
        assert_eq!(step["step"], "reply");
        let refused = match step["status"].as_u64() {
            Some(status) => status == 404,
            None => {
                let text = &step["tool"]["content"][0]["text"];
                assert_eq!(&step["error"]["message"], text);
                let refusals = ["This ", "Authentication required", "Invalid arguments"];
                let begins = |one: &&str| text.as_str().unwrap().starts_with(one);
                let refused = refusals.iter().any(begins);
                assert_eq!(step["error"]["code"], if refused { -32602 } else { -32603 });
                refused
            }
        };
        Err(json!({if refused { "refused" } else { "failed" }: true}))
    }
}

/// A client's value as documents take it: a text, or `true` for any other.
pub fn client_value(value: &Value) -> Value {
    match value {
        Value::Null | Value::String(_) => value.clone(),
        _ => true.into(),
    }
}

pub fn session_of(session: &Value) -> Value {
    if session.is_null() {
        return Value::Null;
    }
    let value = session["value"].as_str();
    let value = value.map(|value| serde_json::from_str::<Value>(value).unwrap());
    json!({"value": value, "generation": session["generation"]})
}
