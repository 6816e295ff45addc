# What each kind of artefact contains, in build/dist: `make -C release sbom`. sbom.py says how.

CYCLONEDX := $(BUILD)/cargo-cyclonedx/bin
SBOM_PYTHON := $(BUILD)/venv-sbom/bin/python

.PHONY: sbom
sbom: $(CYCLONEDX)/cargo-cyclonedx $(BUILD)/venv-sbom/.installed
	PATH=$(CYCLONEDX):$$PATH $(SBOM_PYTHON) -B sbom.py $(DIST)

# It runs for seconds, so it need not be optimised.
$(CYCLONEDX)/cargo-cyclonedx:
	cargo install --quiet --locked --debug --config profile.dev.debug=false --root $(BUILD)/cargo-cyclonedx \
		--target-dir $(BUILD)/cargo-cyclonedx/target cargo-cyclonedx@0.5.9
	rm -r $(BUILD)/cargo-cyclonedx/target

$(BUILD)/venv-sbom/.installed: requirements-sbom.txt
	$(MAKE) -C $(ROOT)/bindings/python $(UV)
	test -d $(@D) || $(UV) venv --quiet $(@D)
	$(UV) pip install --quiet --python $(SBOM_PYTHON) --requirement $<
	@touch $@
