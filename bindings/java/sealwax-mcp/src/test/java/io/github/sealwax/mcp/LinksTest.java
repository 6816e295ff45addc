package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.sealwax.Codec;
import io.github.sealwax.InvalidArgumentException;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Links, and cursors in results, in the manners of Java; what they do is in the transcripts. */
class LinksTest {
  record Report(int number) {}

  private static final Principal ALICE = Principal.of("https://idp.example.com", null, "alice");

  private final List<TokenEvent> events = new ArrayList<>();
  private final Guard guard =
      Guard.builder(Codec.of(KeyRing.of(Key.generate()), "https://mcp.example.com"))
          .principal(context -> ALICE)
          .ledger(new MemoryLedger())
          .onEvent(events::add)
          .build();
  private final Links<Report> reports = guard.links("report", Report.class);

  /** Has a tool make a link, and a cursor. */
  private Object made() {
    Direct server =
        Direct.serving(
            guard,
            context -> {
              Pages<Integer> pages = guard.pages(Integer.class);
              assertNull(pages.position(context));
              assertThrows(
                  InvalidArgumentException.class, () -> pages.list("\ud800").cursor(context, 1));
              assertNotNull(pages.cursor(context, 20));
              return Map.of("link", reports.once().seal(context, new Report(7)));
            });
    return server.result("alice", "tools/call", Map.of("name", "it")).get("link");
  }

  @Test
  void aLinkIsOpenedWhereNoRequestIs() {
    Object link = made();
    OpenedLink<Report> seen = reports.by(ALICE).preview(link);
    assertEquals(seen, reports.open(link));
    assertEquals(new OpenedLink<>(new Report(7), ALICE, seen.id()), seen);
    assertEquals("OpenedLink[id=" + seen.id() + "]", seen.toString());
    assertEquals("used", assertThrows(LinkRefused.class, () -> reports.open(link)).code());
    assertEquals(2, events.stream().filter(one -> one.event().equals("opened")).count());
    TokenEvent last = events.get(events.size() - 1);
    assertEquals("link " + seen.id(), last.kind() + " " + last.id());
  }

  /** As at a replica of the release before. */
  @Test
  void aValueOfAnotherTypeIsNotUsedUp() {
    Object link = made();
    Links<Integer> others = guard.links("report", Integer.class);
    LinkRefused refused = assertThrows(LinkRefused.class, () -> others.open(link));
    assertEquals("404 malformed", refused.status() + " " + refused.code());
    assertEquals(7, reports.open(link).value().number());
  }

  @Test
  void whoIsNotSignedInIsNotAnybody() {
    InvalidArgumentException none =
        assertThrows(InvalidArgumentException.class, () -> reports.by(null));
    assertEquals("by: expected the user who is signed in, found none", none.getMessage());
    Links<Report> ofNobody = reports.by(Principal.anonymous());
    LinkRefused refused = assertThrows(LinkRefused.class, () -> ofNobody.open(made()));
    assertEquals("principal_mismatch", refused.code());
  }

  @Test
  void whatIsNoTextIsNotFound() {
    for (Object sent : Arrays.asList(null, 7, List.of("sw1."), "\ud800", new byte[4])) {
      LinkRefused refused = assertThrows(LinkRefused.class, () -> reports.open(sent));
      assertEquals("404 Not found", refused.status() + " " + refused.getMessage());
    }
  }
}
