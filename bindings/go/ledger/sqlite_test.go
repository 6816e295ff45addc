package ledger_test

import (
	_ "github.com/ncruces/go-sqlite3/driver"
)
