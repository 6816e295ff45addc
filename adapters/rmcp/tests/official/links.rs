//! Links, opened at a route, where no request is.

use sealwax::Principal;
use sealwax_rmcp::ledger::Memory;
use sealwax_rmcp::{Guard, anonymous};

use crate::serving::fresh;

/// The ledger is opened first, and the value is read before the link is used up.
#[tokio::test]
async fn the_first_act_of_a_replica_may_be_to_open_a_link() {
    let codec = fresh();
    let anyone = codec.view(&Principal::anonymous()).unwrap();
    let payload = b"{\"once\":true,\"subject\":\"alice\"}\n7";
    let link = anyone.custom("sealwax/link/report").seal(payload).unwrap();
    let guard = Guard::builder(codec, anonymous).ledger(Memory::default());
    let reports = guard.build().unwrap().links("report");

    let other_type = reports.open::<String>(link.as_str()).await;
    assert_eq!(other_type.unwrap_err().status, 404);
    let opened = reports.open::<u32>(link.as_str()).await.unwrap();
    assert_eq!(
        (opened.value, opened.principal),
        (7, Principal::subject("alice"))
    );
    let again = reports.preview::<u32>(link.as_str()).await;
    assert_eq!(again.unwrap_err().to_string(), "Not found");
}
