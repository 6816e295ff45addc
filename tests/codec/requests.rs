//! The core's helpers for adapters, by `tests/requests.json`, which every language reads.

use sealwax::{Error, JwtClaims, Principal, RequestContext};
use serde_json::Value;

fn cases(group: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("../requests.json")).unwrap();
    all[group].as_array().unwrap().clone()
}

fn code<T>(result: Result<T, Error>) -> Option<&'static str> {
    result.err().map(|error| error.code())
}

#[test]
fn claims_give_one_principal() {
    for case in cases("claims") {
        let claims = &case["claims"];
        // `JwtClaims` holds only texts.
        if claims.as_object().unwrap().iter().any(|(name, claim)| {
            ["iss", "sub", "azp"].contains(&name.as_str()) && !claim.is_string() && !claim.is_null()
        }) {
            continue;
        }
        let found = Principal::from_claims(&JwtClaims {
            iss: claims["iss"].as_str(),
            sub: claims["sub"].as_str(),
            client_id: claims["client_id"].as_str(),
            azp: claims["azp"].as_str(),
        });
        match case["principal"].as_array() {
            Some(parts) => {
                let parts: Vec<_> = parts.iter().map(Value::as_str).collect();
                let found = found.unwrap();
                let named = found.parts().unwrap();
                assert_eq!(
                    [named.issuer, named.client, named.subject].as_slice(),
                    parts,
                    "{case}"
                );
            }
            None => assert_eq!(code(found), case["error"].as_str(), "{case}"),
        }
    }
}

#[test]
fn only_the_named_arguments_count() {
    for case in cases("only") {
        let names: Vec<&str> = case["only"]
            .as_array()
            .unwrap()
            .iter()
            .map(|name| name.as_str().unwrap())
            .collect();
        let arguments = case["arguments"].to_string();
        let found = RequestContext::only("tools/call", "x", Some(&arguments), &names);
        match case.get("same") {
            Some(same) => {
                let same = RequestContext::new("tools/call", "x", Some(&same.to_string()));
                assert_eq!(found.unwrap(), same.unwrap(), "{case}");
            }
            None => assert_eq!(code(found), case["error"].as_str(), "{case}"),
        }
    }
}
