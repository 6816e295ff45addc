# Publishes what lies in build/dist, as the workflow `release` does, step by step. Nothing is built here.
#
#   make -C release publish-crates DRY_RUN=--dry-run
#
# With DRY_RUN nothing leaves this machine, and no login is needed.

DRY_RUN :=
# By hand there is none to have: PROVENANCE=
PROVENANCE := --provenance
PYTHON_PACKAGES = $(DIST)/*.whl $(DIST)/sealwax-$(VERSION).tar.gz

.PHONY: check-tag checked publish-crates publish-npm publish-pypi publish-image publish-release

# TAG names the version, and the changelog has a section about it.
check-tag: $(BUILD)/release-notes.md
	test "$(TAG)" = "v$(VERSION)"
	test -s $<

.PHONY: $(BUILD)/release-notes.md
$(BUILD)/release-notes.md:
	mkdir -p $(@D)
	awk '/^## /{ on = index($$2, "[$(VERSION)]") == 1; next } on' $(ROOT)/CHANGELOG.md > $@

# What was tried is what is published.
checked:
	cd $(DIST) && sha256sum --check --quiet --strict SHA256SUMS

# Cargo packs the crates anew: the same bytes. If some are published already: CRATES="sealwax-cli".
publish-crates: checked
	rm -rf $(CLONE)
	git clone --quiet $(ROOT) $(CLONE)
	cd $(CLONE) && cargo package --quiet --locked --no-verify $(CRATES:%=--package %)
	set -e; for crate in $(CRATES:%=%-$(VERSION).crate); do cmp $(CLONE)/target/package/$$crate $(DIST)/$$crate; done
	cd $(CLONE) && cargo publish --locked --no-verify $(CRATES:%=--package %) $(DRY_RUN)

publish-npm: checked
	npm publish $(DIST)/sealwax-$(VERSION).tgz $(PROVENANCE) --access=public $(DRY_RUN)

# uv sends the attestations that lie beside the packages.
publish-pypi: checked
	$(MAKE) -C $(ROOT)/bindings/python $(UV)
	$(if $(DRY_RUN),,$(UV) tool run --quiet --from pypi-attestations==0.0.30 pypi-attestations sign $(PYTHON_PACKAGES))
	$(UV) publish --trusted-publishing $(if $(DRY_RUN),never,always) $(DRY_RUN) $(PYTHON_PACKAGES)

# Both architectures under one name. With DRY_RUN they go into a file.
IMAGE_NAME := $(IMAGE_TAG)
publish-image: | $(IMAGE)/podman
	$(PODMAN) manifest rm --ignore $(IMAGE_NAME)
	$(PODMAN) manifest create $(IMAGE_NAME)
	for tar in $(IMAGE)/sealwax-$(VERSION)-*.tar; do $(PODMAN) manifest add $(IMAGE_NAME) docker-archive:$$tar || exit 1; done
	$(PODMAN) manifest push --all $(IMAGE_NAME) $(if $(DRY_RUN),oci-archive:$(IMAGE)/published.tar,docker://$(IMAGE_NAME))

# As a draft, until all files are there.
publish-release: checked $(BUILD)/release-notes.md
	$(if $(DRY_RUN),echo )gh release create v$(VERSION) --verify-tag --draft --title "Sealwax $(VERSION)" \
		--notes-file $(BUILD)/release-notes.md $(DIST)/*
	$(if $(DRY_RUN),echo )gh release edit v$(VERSION) --draft=false
