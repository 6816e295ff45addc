package io.github.sealwax;

import io.github.sealwax.internal.Documents;
import io.github.sealwax.internal.Text;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Who sends a request.
 *
 * <p>Take the parts from a verified credential, by the same rule in every replica: of a JWT, {@code
 * iss}, {@code client_id} or {@code azp}, and {@code sub}. {@link #fromClaims} is that rule. There
 * is no default: a server without authentication says {@link #anonymous}, and then anyone who holds
 * a token can use it.
 */
public sealed interface Principal {
  /**
   * An authenticated caller: a subject, a client, or both.
   *
   * @param issuer the issuer of the client and the subject
   * @param client the client
   * @param subject the subject
   */
  record Caller(@Nullable String issuer, @Nullable String client, @Nullable String subject)
      implements Principal {
    /**
     * Makes a caller, of whom two that differ never become one.
     *
     * @throws InvalidArgumentException for a lone surrogate
     */
    public Caller {
      Text.optional("issuer", issuer);
      Text.optional("client", client);
      Text.optional("subject", subject);
    }
  }

  /** Nobody in particular. */
  record Anonymous() implements Principal {}

  /** Returns a user of this service alone. */
  static Principal subject(String subject) {
    return new Caller(null, null, subject);
  }

  /** Returns a caller by its parts. */
  static Principal of(@Nullable String issuer, @Nullable String client, @Nullable String subject) {
    return new Caller(issuer, client, subject);
  }

  /** Returns nobody in particular: anyone who holds a token can use it. */
  static Principal anonymous() {
    return new Anonymous();
  }

  /**
   * Returns the principal of the claims of a verified JWT, or of an introspection response: {@code
   * iss} and {@code sub}, which are required, and {@code client_id}, or else {@code azp}, if
   * present (RFC 9068 §2.2, RFC 7662 §2.2, OpenID Connect Core §2). Every language uses this rule,
   * so that a user is the same principal at every replica.
   *
   * @param claims texts, numbers, truth values, lists and maps; any other object counts as its text
   * @throws InvalidArgumentException if {@code iss} or {@code sub} is missing, and for a part that
   *     is not a text, is empty or is over 1,024 bytes
   */
  static Principal fromClaims(Map<String, ?> claims) {
    Map<String, Object> found = Documents.principal(claims);
    return new Caller(
        (String) found.get("issuer"), (String) found.get("client"), (String) found.get("subject"));
  }
}
