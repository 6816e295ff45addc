//! What `bindings/c/include/sealwax.h` declares; a test compares the two.

use std::ffi::c_void;

// Named after what a C caller gives. Objects have no type here: a caller mixes none up.
pub type In = *const c_void;
pub type Mut = *mut c_void;
pub type Give = *mut Mut;
pub type Bytes = *const u8;
pub type Out = *mut u8;
pub type Len = *mut usize;
pub type Texts = *mut Bytes;
pub type Number = *const u64;
pub type Array = *const In;
pub type Flag = *mut bool;

pub type Status = i32;

macro_rules! header {
    ($($name:ident($($type:ident),*) -> $result:ident;)*) => {
        #[allow(improper_ctypes)]
        unsafe extern "C" {
            $(pub fn $name($(_: $type),*) -> $result;)*
        }

        /// Each function with its types.
        #[cfg(test)]
        pub const DECLARED: &[(&str, &[&str], &str)] =
            &[$((stringify!($name), &[$(stringify!($type)),*], stringify!($result))),*];
    };
}

type Nothing = ();

header! {
    sealwax_code(Status) -> Bytes;
    sealwax_is_refusal(Status) -> bool;
    sealwax_key_generate(Give, Mut) -> Status;
    sealwax_key_from_secret(Bytes, usize, Give, Mut) -> Status;
    sealwax_key_parse(Bytes, usize, Give, Mut) -> Status;
    sealwax_key_id(In, Out, Mut) -> Status;
    sealwax_key_to_text(In, Out, usize, Len, Mut) -> Status;
    sealwax_key_free(Mut) -> Nothing;
    sealwax_ring_parse(Bytes, usize, Give, Mut) -> Status;
    sealwax_ring_of_file(Bytes, usize, Bytes, usize, Bytes, usize, Give, Mut) -> Status;
    sealwax_ring_new(Array, usize, Give, Mut) -> Status;
    sealwax_ring_ids(In, Out, usize, Len, Mut) -> Status;
    sealwax_ring_free(Mut) -> Nothing;
    sealwax_codec_new(In, Bytes, usize, In, Give, Mut) -> Status;
    sealwax_codec_set_keys(In, In, Flag, Mut) -> Status;
    sealwax_codec_free(Mut) -> Nothing;
    sealwax_view_new(In, Bytes, usize, Bytes, usize, Bytes, usize, Give, Mut) -> Status;
    sealwax_view_new_anonymous(In, Give, Mut) -> Status;
    sealwax_view_free(Mut) -> Nothing;
    sealwax_token_limit(In) -> usize;
    sealwax_metadata_limit(In) -> usize;
    sealwax_kind_name(i32) -> Bytes;
    sealwax_check_ttl(u64, Mut) -> Status;
    sealwax_seal_token(In, In, In, In, Bytes, usize, Out, usize, Len, Mut, Mut) -> Status;
    sealwax_open(In, In, Number, Bytes, usize, Out, usize, Len, Mut, Mut) -> Status;
    sealwax_mint_session_id(In, Out, usize, Len, Mut, Mut) -> Status;
    sealwax_verify_session_id(In, Bytes, usize, Number, Mut, Mut) -> Status;
    sealwax_new_handle(In, Bytes, usize, Number, Out, usize, Len, Mut, Mut) -> Status;
    sealwax_verify_handle(In, Bytes, usize, Bytes, usize, Number, Mut, Mut) -> Status;
    sealwax_session_create(In, In, Bytes, usize, Out, usize, Len, Mut) -> Status;
    sealwax_session_mint(In, Out, usize, Len, Mut) -> Status;
    sealwax_session_open(In, Bytes, usize, Give, Mut) -> Status;
    sealwax_session_payload(In, Out, usize, Len, Mut, Mut) -> Status;
    sealwax_session_id(In, Out, usize, Len, Mut, Mut) -> Status;
    sealwax_session_renew(In, In, In, Bytes, usize, Out, usize, Len, Mut) -> Status;
    sealwax_session_fork(In, In, In, Out, usize, Len, Mut) -> Status;
    sealwax_session_free(Mut) -> Nothing;
    sealwax_machine_new(In, In, Bytes, usize, Give, Texts, Len, Mut) -> Status;
    sealwax_machine_on(Mut, Bytes, usize, Texts, Len, Mut) -> Status;
    sealwax_machine_free(Mut) -> Nothing;
    sealwax_ledger_evaluate(Bytes, usize, u64, Bytes, usize, Out, usize, Len, Mut) -> Status;
    sealwax_inspect(Bytes, usize, Mut, Mut) -> Status;
    sealwax_report_words(Bytes, usize, In, u64, Out, usize, Len, Mut) -> Status;
    sealwax_report_json(Bytes, usize, In, Out, usize, Len, Mut) -> Status;
    sealwax_request_context(Bytes, usize, Bytes, usize, Bytes, usize, Out, Mut) -> Status;
    sealwax_token_fields(Bytes, usize, Out, usize, Len, Mut) -> Status;
    sealwax_principal_from_claims(Bytes, usize, Out, usize, Len, Mut) -> Status;
    sealwax_answer(Bytes, usize, Status, Bytes, usize, Out, usize, Len, Mut) -> Status;
    sealwax_test_clock_new(u64, Give, Mut) -> Status;
    sealwax_test_clock_set(In, u64, Mut) -> Status;
    sealwax_test_clock_free(Mut) -> Nothing;
    sealwax_test_codec_new(In, Bytes, usize, In, In, Give, Mut) -> Status;
}

/// A text, as a member of an argument: a pointer and a size.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Slice(pub Bytes, pub usize);

/// `sealwax_purpose`.
#[repr(C)]
pub struct Purpose {
    pub kind: i32,
    pub label: Slice,
    pub session_id: Slice,
    pub context: Slice,
}

/// `sealwax_lifetime`.
#[repr(C)]
pub struct Lifetime(pub u64, pub bool);

/// `sealwax_limits`.
#[repr(C)]
pub struct Limits(pub [Number; 3]);

/// The sizes of what is written, by the header.
pub const OPENED: usize = 48;
pub const SEALED: usize = 32;
pub const IDENTIFIER: usize = 40;
pub const INSPECTION: usize = 72;

#[cfg(test)]
mod tests {
    use super::DECLARED;

    const HEADER: &str = include_str!("../../../../../bindings/c/include/sealwax.h");

    /// Returns the type's name here of a parameter there.
    fn of(parameter: &str) -> &'static str {
        let text = parameter.trim();
        // Without its name; the name of an array is within.
        let kind = match text.contains("(*") {
            true => "uint8_t *".to_owned(),
            false => text
                .trim_end_matches(|c: char| c.is_alphanumeric() || c == '_')
                .trim()
                .to_owned(),
        };
        match kind.as_str() {
            "const char *" | "const uint8_t *" => "Bytes",
            "char *" | "uint8_t *" => "Out",
            "size_t *" => "Len",
            "const char **" | "const uint8_t **" => "Texts",
            "const uint64_t *" => "Number",
            "bool *" => "Flag",
            "size_t" => "usize",
            "uint64_t" => "u64",
            "uint32_t" => "u32",
            "int32_t" => "i32",
            "bool" => "bool",
            "sealwax_status" => "Status",
            "void" => "Nothing",
            "const struct sealwax_key *const *" => "Array",
            kind if kind.ends_with("**") => "Give",
            kind if kind.starts_with("const struct") => "In",
            kind if kind.starts_with("struct") => "Mut",
            other => panic!("{other}: {parameter}"),
        }
    }

    #[test]
    fn the_header_says_the_same() {
        let code: Vec<_> = HEADER
            .lines()
            .filter(|line| !line.starts_with("//"))
            .collect();
        let code = code.join(" ");
        for (name, types, result) in DECLARED {
            let at = code
                .find(&format!("{name}("))
                .unwrap_or_else(|| panic!("{name}"));
            let before = code[..at].rsplit([';', '{', '"']).next().unwrap();
            let inside = &code[at + name.len() + 1..];
            // A parameter may have parentheses, but none ends with `);`.
            let inside = &inside[..inside.find(");").unwrap()];
            let found: Vec<_> = inside.split(',').map(of).collect();
            assert_eq!(
                (&found[..], of(&format!("{before} x"))),
                (*types, *result),
                "{name}"
            );
        }
    }
}
