# The module of Go, in the repository that `go get` reads: `make -C release go` adds a version to it, and pushes nothing.
#
#   make -C release go GO_MODULE=~/sealwax-go     a clone of github.com/sealwax/sealwax-go; else an empty repository

GO_MODULE := $(BUILD)/release-go/sealwax-go

.PHONY: go test-go
go:
	$(MAKE) -C $(ROOT)/bindings/go generate
	python3 -B go.py $(GO_MODULE)

# A program outside of this repository gets it as it would get a published one: from a repository with its tag.
test-go:
	rm -rf $(BUILD)/release-go
	$(MAKE) go
	python3 -B $(ROOT)/tests/published/go_documents.py $(BUILD)/release-go/outside $(GO_MODULE)
