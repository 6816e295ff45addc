//! The command line, built from `commands.json`.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde::Deserialize;

/// A specification of the commands; `cli/commands.json` is one.
#[derive(Deserialize)]
struct Spec {
    about: String,
    notes: Vec<String>,
    groups: BTreeMap<String, Vec<Listed>>,
    arguments: BTreeMap<String, Item>,
    commands: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    help: String,
    #[serde(default)]
    arguments: Vec<Listed>,
    #[serde(default)]
    options: Vec<Listed>,
    #[serde(default)]
    commands: Vec<Entry>,
}

/// An option or argument, or the name of a group of options or of an argument.
#[derive(Deserialize)]
#[serde(untagged)]
enum Listed {
    Named(String),
    Item(Item),
}

#[derive(Clone, Deserialize)]
struct Item {
    name: String,
    /// The name of its value; a flag has none.
    value: Option<String>,
    help: String,
    #[serde(default)]
    required: bool,
    default: Option<String>,
    #[serde(default)]
    values: Vec<String>,
}

/// Returns the parser of all commands that the specification has.
///
/// # Panics
///
/// For another specification than that of this crate, which its tests read.
pub fn commands() -> Command {
    #[expect(clippy::expect_used, reason = "the text is a part of the program")]
    let spec: Spec = serde_json::from_str(sealwax_cli::COMMANDS).expect("commands.json");
    let entries = spec.commands.iter().map(|entry| spec.command(entry));
    Command::new("sealwax")
        .version(env!("CARGO_PKG_VERSION"))
        .about(spec.about.clone())
        .after_help(spec.notes.join("\n\n"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(entries)
}

/// Returns the words of the command that was given, and its options by name.
pub fn given(matches: &ArgMatches) -> (String, BTreeMap<String, String>) {
    let (mut words, mut at) = (Vec::new(), matches);
    while let Some((word, inner)) = at.subcommand() {
        words.push(word);
        at = inner;
    }
    let mut options = BTreeMap::new();
    for id in at.ids() {
        let name = id.as_str();
        if let Ok(Some(&given)) = at.try_get_one::<bool>(name) {
            if given {
                options.insert(name.to_owned(), String::new());
            }
        } else if let Ok(Some(text)) = at.try_get_one::<String>(name) {
            options.insert(name.to_owned(), text.clone());
        }
    }
    (words.join(" "), options)
}

impl Spec {
    fn command(&self, entry: &Entry) -> Command {
        let arguments = self.items(&entry.arguments);
        let options = self.items(&entry.options);
        let command = Command::new(entry.name.clone())
            .about(entry.help.clone())
            .args(
                arguments
                    .into_iter()
                    .enumerate()
                    .map(|(at, item)| item.arg().index(at + 1)),
            )
            .args(
                options
                    .into_iter()
                    .map(|item| item.arg().long(item.name.clone())),
            );
        if entry.commands.is_empty() {
            return command;
        }
        command
            .subcommand_required(true)
            .arg_required_else_help(true)
            .subcommands(entry.commands.iter().map(|entry| self.command(entry)))
    }

    fn items<'a>(&'a self, listed: &'a [Listed]) -> Vec<&'a Item> {
        let mut items = Vec::new();
        for one in listed {
            match one {
                Listed::Item(item) => items.push(item),
                Listed::Named(name) => match self.arguments.get(name) {
                    Some(item) => items.push(item),
                    None => items.extend(self.items(&self.groups[name])),
                },
            }
        }
        items
    }
}

impl Item {
    fn arg(&self) -> Arg {
        let arg = Arg::new(self.name.clone()).help(self.help.clone());
        let Some(value) = &self.value else {
            return arg.action(ArgAction::SetTrue);
        };
        arg.value_name(value.clone())
            .required(self.required)
            .default_values(self.default.iter())
            .value_parser(Text(self.values.clone()))
    }
}

/// A text, of which a shell completes the values; whether it is one of them is the command's to say. No text of the command
/// has other bytes than UTF-8, so these may stay garbled.
#[derive(Clone)]
struct Text(Vec<String>);

impl TypedValueParser for Text {
    type Value = String;

    fn parse_ref(
        &self,
        _: &Command,
        _: Option<&Arg>,
        given: &OsStr,
    ) -> Result<String, clap::Error> {
        Ok(given.to_string_lossy().into_owned())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = self.0.iter().map(PossibleValue::new);
        (!self.0.is_empty()).then(|| Box::new(values) as Box<_>)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_specification_makes_a_parser() {
        super::commands().debug_assert();
    }
}
