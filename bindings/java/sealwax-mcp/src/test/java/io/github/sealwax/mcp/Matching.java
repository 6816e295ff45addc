package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Key;
import io.github.sealwax.Opened;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Compares the outcome of an event with its transcript. */
final class Matching {
  private final World world;

  Matching(World world) {
    this.world = world;
  }

  void compare(Map<String, Object> event, Found found) {
    if (found.wrong != null) {
      throw found.wrong;
    }
    assertEquals(event.get("reported"), found.reported, "reported");
    // Who is anonymous by name is not asked for.
    List<Object> asked = new ArrayList<>(World.list(event.get("asked")));
    if ("anonymous".equals(event.get("as"))) {
      asked.remove("principal");
    }
    assertEquals(asked, found.asked, "asked");
    if (event.containsKey("anybodys")) {
      assertEquals(event.get("anybodys"), found.anybodys, "anybodys");
    }
    if (event.containsKey("happened")) {
      assertEquals(event.get("happened"), found.happened.stream().map(Matching::named).toList());
    }
    assertEquals(event.getOrDefault("commands", found.commands), found.commands, "commands");
    assertEquals(
        event.get("delivered") == null,
        found.delivered == null,
        () -> "delivered " + found.delivered);
    World.object(event.get("delivered"))
        .forEach(
            (name, value) -> assertEquals(value, found.delivered.get(name), "delivered " + name));
    List<Object> did = World.list(event.get("did"));
    assertEquals(did.size(), found.did.size(), () -> "did " + found.did);
    for (int place = 0; place < did.size(); place++) {
      matches(did.get(place), found.did.get(place), "did");
    }
    answered(event, found);
  }

  private void answered(Map<String, Object> event, Found found) {
    Map<String, Object> answered = World.object(event.get("answered"));
    if (!event.get("via").equals("http") && event.get("answered") == null) {
      assertNull(found.answered);
      return;
    }
    assertNotNull(found.answered, "answered");
    Map<String, Object> message = World.object(answered.get("message"));
    Object error = answered.getOrDefault("error", message.get("error"));
    if (error == null) {
      matches(answered, found.answered, "answered");
      return;
    }
    Map<String, Object> told = World.object(found.answered.getOrDefault("message", found.answered));
    exactly(echoed(World.object(error), found), World.object(told.get("error")));
    if (answered.containsKey("status")) {
      assertEquals(answered.get("status"), found.answered.get("status"), "status");
    }
  }

  /** An error: it has no other members, and its data neither. */
  private void exactly(Map<String, Object> expected, Map<String, Object> error) {
    assertEquals(expected.keySet(), error.keySet(), () -> "error " + error);
    assertEquals(
        World.object(expected.get("data")).keySet(), World.object(error.get("data")).keySet());
    matches(expected, error, "error");
  }

  /** {@code $echo} is the session id that was sent. */
  private static Map<String, Object> echoed(Map<String, Object> error, Found found) {
    if (!Map.of("sessionId", "$echo").equals(error.get("data"))) {
      return error;
    }
    Map<String, Object> meta = World.object(World.object(found.sent.get("params")).get("_meta"));
    Map<String, Object> metadata = World.object(meta.get("io.modelcontextprotocol/session"));
    Map<String, Object> echoed = new java.util.HashMap<>(error);
    echoed.put(
        "data",
        Map.of("sessionId", found.sent.getOrDefault("sessionId", metadata.get("sessionId"))));
    return echoed;
  }

  /** Replaces the ids of keys by their names. */
  private static Object named(Object happened) {
    String text = (String) happened;
    for (Map.Entry<String, Object> key : World.object(World.FILE.get("keys")).entrySet()) {
      text = text.replace(Key.parse((String) key.getValue()).id(), key.getKey());
    }
    return text;
  }

  /** At least what is expected. */
  private void matches(Object expected, Object value, String place) {
    if (expected instanceof List<?> items) {
      List<Object> others = World.list(value);
      assertEquals(items.size(), others.size(), () -> place + " " + value);
      for (int at = 0; at < items.size(); at++) {
        matches(items.get(at), others.get(at), place);
      }
      return;
    }
    if (!(expected instanceof Map)) {
      assertEquals(expected, value, place);
      return;
    }
    Map<String, Object> members = World.object(expected);
    if (members.containsKey("$token")) {
      token(members.get("$token"), (String) value, place);
    } else if (members.containsKey("$session")) {
      session(members, World.object(value), place);
    } else if (members.containsKey("$handle")) {
      assertInstanceOf(String.class, World.object(value).get("handle"), place);
    } else {
      Map<String, Object> found = World.object(value);
      members.forEach(
          (name, member) -> {
            if (name.equals("$absent")) {
              World.list(member)
                  .forEach(one -> assertFalse(found.containsKey(one), () -> place + " " + found));
            } else {
              assertTrue(
                  found.containsKey(name), () -> place + "." + name + " is missing in " + found);
              matches(member, found.get(name), place + "." + name);
            }
          });
    }
  }

  private void token(Object named, String value, String place) {
    if (named instanceof String name) {
      assertEquals(world.tokens.get(name), value, place);
      return;
    }
    Map<String, Object> expected = World.object(named);
    Map<String, Object> whose = Map.of("as", expected.getOrDefault("as", "alice"), "key", "new");
    Opened opened = World.sealer(world.view(whose), expected).open(value);
    if (expected.get("name") instanceof String name) {
      world.tokens.put(name, value);
    }
    if (expected.containsKey("ttl")) {
      Duration lifetime = Duration.ofSeconds(World.number(expected.get("ttl"), 0));
      assertEquals(opened.issuedAt().plus(lifetime), opened.expiresAt(), place);
    }
    String payload = new String(opened.payload(), StandardCharsets.UTF_8);
    if (expected.containsKey("json")) {
      Map<String, Object> held = Json.object(payload);
      World.object(expected.get("json"))
          .forEach((name, one) -> assertEquals(one, held.get(name), place));
    } else if (expected.containsKey("payload")) {
      assertEquals(expected.get("payload"), payload, place);
    }
  }

  private void session(Map<String, Object> expected, Map<String, Object> value, String place) {
    List<Map<String, Object>> versions =
        world.sessions.computeIfAbsent((String) expected.get("$session"), it -> new ArrayList<>());
    if (!versions.isEmpty()) {
      Object id = versions.get(versions.size() - 1).get("sessionId");
      assertEquals(id, value.get("sessionId"), place + ": another session");
    }
    if (expected.containsKey("version")) {
      int version = (int) World.number(expected.get("version"), 0);
      assertEquals(versions.get(version).get("state"), value.get("state"), place);
      return;
    }
    if (expected.containsKey("payload")) {
      io.github.sealwax.Session opened = world.view(Map.of("key", "both")).sessions().open(value);
      String payload = new String(opened.payload(), StandardCharsets.UTF_8);
      assertEquals(expected.get("payload"), payload, place);
      assertEquals(World.number(expected.get("generation"), -1), opened.generation(), place);
    } else {
      assertTrue(!value.containsKey("state") || place.equals("did"), place + ": a new state");
    }
    if (value.containsKey("state") || versions.isEmpty()) {
      versions.add(value);
    }
  }
}
