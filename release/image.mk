# The container image of the command, for two architectures: `make image`, and `make test-image` runs it.
# Both take podman; where it is missing, root on a Debian system has Debian's, unpacked below build/image.

IMAGE := $(BUILD)/image
IMAGE_TAG := localhost/sealwax:$(VERSION)
PODMAN := $(ROOT)/release/container/podman.sh

.PHONY: image image-programs
image: image-amd64 image-arm64

image-programs:
	$(MAKE) command TRIPLES="x86_64-unknown-linux-musl aarch64-unknown-linux-musl"

$(IMAGE)/podman:
	command -v podman > /dev/null || python3 -B debian.py $$(dpkg --print-architecture) $@ podman crun
	mkdir -p $@

image-amd64: PROGRAM := $(BUILD)/release-command/x86_64-unknown-linux-musl
image-arm64: PROGRAM := $(BUILD)/release-command/aarch64-unknown-linux-musl
image-amd64 image-arm64: image-%: image-programs | $(IMAGE)/podman
	rm -rf $(IMAGE)/context/$*
	install -D -m 755 -t $(IMAGE)/context/$* $(PROGRAM)/sealwax
	install -D -m 644 -t $(IMAGE)/context/$*/usr/share/licenses/sealwax $(PROGRAM)/LICENSE-* $(PROGRAM)/THIRD-PARTY-NOTICES
	$(PODMAN) rmi --ignore --force $(IMAGE_TAG)-$* > /dev/null
	$(PODMAN) build --quiet --platform linux/$* --layers=false --timestamp $(SOURCE_DATE_EPOCH) --identity-label=false \
		--build-arg VERSION=$(VERSION) --tag $(IMAGE_TAG)-$* \
		--file $(ROOT)/release/container/Containerfile $(IMAGE)/context
	rm -f $(IMAGE)/sealwax-$(VERSION)-$*.tar
	$(PODMAN) save --quiet --output $(IMAGE)/sealwax-$(VERSION)-$*.tar $(IMAGE_TAG)-$*

# The image of the other architecture runs in QEMU.
$(IMAGE)/qemu:
	python3 -B debian.py $$(dpkg --print-architecture) $@ qemu-user

.PHONY: test-image try-image
CAN_HAVE_PODMAN = $(shell command -v podman || { test "$$(id -u)" = 0 && command -v dpkg-deb; })
test-image:
	$(if $(CAN_HAVE_PODMAN),$(MAKE) try-image,../bindings/c/tests/need.sh podman podman make -C release test-image)

try-image: image | $(IMAGE)/qemu
	$(ROOT)/tests/image.py $(PODMAN) $(IMAGE_TAG) $(IMAGE)
