package io.github.sealwax.internal;

/**
 * The functions of {@code sealwax.h} that Java calls, with their types: {@code p} is a pointer or
 * {@code size_t}, {@code i} a number of 32 bits, {@code l} one of 64, {@code v} nothing; the result
 * comes first. A function whose last pointer is its error is called by {@link Call#call}.
 */
public enum Function {
  ABI_VERSION("i"),
  KEY_GENERATE("ipp"),
  KEY_DERIVE("ipppp"),
  KEY_FROM_SECRET("ipppp"),
  KEY_PARSE("ipppp"),
  KEY_ID("ippp"),
  KEY_TO_TEXT("ippppp"),
  KEY_FREE("vp"),
  RING_PARSE("ipppp"),
  RING_OF_FILE("ipppppppp"),
  RING_FROM_VARIABLES("ipppp"),
  RING_JOIN("ipppp"),
  RING_NEW("ipppp"),
  RING_IDS("ippppp"),
  RING_FREE("vp"),
  CODEC_NEW("ipppppp"),
  CODEC_SET_KEYS("ipppp"),
  CODEC_FREE("vp"),
  VIEW_NEW("ippppppppp"),
  VIEW_NEW_ANONYMOUS("ippp"),
  VIEW_FREE("vp"),
  TOKEN_LIMIT("pp"),
  METADATA_LIMIT("pp"),
  SEAL("ippppppppp"),
  RENEW("ipppppppppp"),
  OPEN("ipppppppppp"),
  MINT_SESSION_ID("ipppppp"),
  VERIFY_SESSION_ID("ipppppp"),
  MINT_HANDLE("ipppppppp"),
  CHECK_HANDLE_TYPE("ippp"),
  VERIFY_HANDLE("ipppppppp"),
  SESSION_CREATE("ipppppppp"),
  SESSION_OPEN("ippppp"),
  SESSION_PAYLOAD("ipppppp"),
  SESSION_ID("ipppppp"),
  SESSION_RENEW("ippppppppp"),
  SESSION_FORK("ippppppp"),
  SESSION_VERIFY("ippppp"),
  SESSION_FREE("vp"),
  MACHINE_NEW("ipppppppp"),
  MACHINE_ON("ipppppp"),
  MACHINE_FREE("vp"),
  REPORT_JSON("ippppppp"),
  REQUEST_CONTEXT("ipppppppp"),
  REQUEST_CONTEXT_ONLY("ipppppppppp"),
  TOKEN_FIELDS("ipppppp"),
  PRINCIPAL_FROM_CLAIMS("ipppppp"),
  ANSWER("ippipppppp"),
  TEST_CLOCK_NEW("ilpp"),
  TEST_CLOCK_SET("iplp"),
  TEST_CLOCK_FREE("vp"),
  TEST_CODEC_NEW("ippppppp");

  private final String types;

  Function(String types) {
    this.types = types;
  }

  /** Returns its name in C. */
  public String symbol() {
    return "sealwax_" + name().toLowerCase(java.util.Locale.ROOT);
  }

  /** Returns the type of its result, then those of its parameters. */
  public String types() {
    return types;
  }
}
