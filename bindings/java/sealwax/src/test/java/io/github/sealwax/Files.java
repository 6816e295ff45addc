package io.github.sealwax;

import java.nio.file.Path;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The repository's test data. */
final class Files {
  static final JsonMapper JSON = JsonMapper.shared();
  private static final Path ROOT = Path.of(System.getProperty("repository"));

  private Files() {}

  static Path path(String path) {
    return ROOT.resolve(path);
  }

  static JsonNode json(String path) {
    return JSON.readTree(path(path));
  }
}
