//! The engine with two replicas, one store, and clients, models, authors and stores that do anything, in any order: a
//! handler gets only what was sealed for its caller and its request; what is for one use is delivered once; what ended or
//! was signed out is delivered no more; and no log, answer or event holds a payload or a token.

mod acts;
mod input;
mod requests;
mod run;
mod transport;
mod world;

use sealwax_mcp::{Exchange, Step};

use input::{Happens, Input};
use requests::Waiting;
use run::Run;
use world::World;

pub fn run(input: &[u8]) -> bool {
    let Some(input) = crate::read::<Input<'_>>(input) else {
        return false;
    };
    let Some(mut world) = World::new(input.settings) else {
        return false;
    };
    let mut waiting: Vec<Waiting> = Vec::new();
    let mut opened = false;
    for happens in input.happens.iter().take(24) {
        match happens {
            Happens::Message(begun) => {
                let delivered = requests::begin(&mut world, begun);
                opened |= delivered.as_ref().is_some_and(|waiting| waiting.opened);
                waiting.extend(delivered);
            }
            Happens::Transport(carried) => opened |= transport::carry(&mut world, carried),
            Happens::Finish {
                which,
                acts,
                result,
                how,
            } => {
                let at = usize::from(*which).checked_rem(waiting.len());
                if let Some(at) = at {
                    waiting
                        .swap_remove(at)
                        .finish(&mut world, acts, result, how);
                }
            }
            Happens::Drop(which) => {
                if let Some(at) = usize::from(*which).checked_rem(waiting.len()) {
                    drop(waiting.swap_remove(at));
                }
            }
            Happens::Revoke { replica, who, how } => revoke(&mut world, *replica, *who, how),
            Happens::Rotate { replica, ring } => {
                world.codecs[usize::from(*replica)].set_keys(ring.ring());
            }
            Happens::Later(seconds) => world.clock.pass(u64::from(*seconds) * 1000),
        }
    }
    opened
}

fn revoke(world: &mut World, replica: bool, who: crate::world::Who, how: &[input::How<'_>]) {
    let guard = world.guards[usize::from(replica)].clone();
    let revoked = guard.revoke(&who.principal(), None);
    assert_eq!(revoked.is_ok(), world.has_ledger());
    let Ok((mut exchange, step)) = revoked else {
        return;
    };
    let mut run = Run::new(who);
    if let Step::Done(_) = run.drive(world, &mut exchange, step, how)
        && !world.lied
    {
        world.revoked.insert(who, world.clock.now());
    }
    over(&mut exchange);
}

/// Nothing can be done with an exchange that is over.
fn over(exchange: &mut Exchange) {
    use sealwax_mcp::Event;
    assert!(exchange.on(Event::Ledger(Ok(Vec::new()))).is_err());
    assert!(exchange.on(Event::Principal(Ok(None))).is_err());
    assert!(exchange.session().is_none() && exchange.state().is_err());
    assert!(exchange.write("1").is_err());
    assert!(exchange.fork().is_err() && exchange.seal_state("1").is_err());
}
