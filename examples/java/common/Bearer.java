package common;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.crypto.MACVerifier;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import io.github.sealwax.Principal;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.time.Instant;
import java.util.Set;

/** Asks for a bearer token: a JWT, signed with HS256, of iss, sub, client_id, exp, and aud. */
final class Bearer implements Filter {
  /** Where the user of a request is. */
  static final String PRINCIPAL = "principal";

  private static final Set<String> REQUIRED = Set.of("exp", "iss", "sub", "client_id");
  private final MACVerifier verifier;
  private final String audience;

  Bearer(String secret, String audience) {
    this.audience = audience;
    try {
      verifier = new MACVerifier(secret.getBytes(StandardCharsets.UTF_8));
    } catch (JOSEException e) {
      throw new IllegalArgumentException("NOTES_JWT_SECRET: expected 32 characters or more", e);
    }
  }

  @Override
  public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    Principal user = user(((HttpServletRequest) request).getHeader("Authorization"));
    if (user == null) {
      HttpServletResponse refused = (HttpServletResponse) response;
      refused.setHeader("WWW-Authenticate", "Bearer error=\"invalid_token\"");
      refused.setStatus(HttpServletResponse.SC_UNAUTHORIZED);
      return;
    }
    request.setAttribute(PRINCIPAL, user);
    chain.doFilter(request, response);
  }

  private Principal user(String authorization) {
    if (authorization == null || !authorization.startsWith("Bearer ")) {
      return null;
    }
    try {
      SignedJWT token = SignedJWT.parse(authorization.substring("Bearer ".length()));
      JWTClaimsSet claims = token.getJWTClaimsSet();
      boolean isGood =
          token.verify(verifier)
              && claims.getClaims().keySet().containsAll(REQUIRED)
              && claims.getAudience().contains(audience)
              && claims.getExpirationTime().toInstant().isAfter(Instant.now());
      return isGood ? Principal.fromClaims(claims.toJSONObject()) : null;
    } catch (ParseException | JOSEException e) {
      return null;
    }
  }
}
