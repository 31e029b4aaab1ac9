import json
import threading
import unittest
import urllib.error
import urllib.request

from ledger.server import Api, make_server
from tests.support import StoreCase, config, transfer


class Routes(StoreCase):
    def setUp(self):
        super().setUp()
        self.store.add(transfer(420))
        self.api = Api(self.store)

    def test_version(self):
        self.assertEqual(self.api.get("/version", {}), (200, {"version": "0.9.2"}))

    def test_balance(self):
        status, body = self.api.get("/balance", {})
        self.assertEqual(status, 200)
        self.assertEqual(body["balances"][1],
                         {"account": "Expenses:Coffee", "currency": "EUR", "minor": 420})

    def test_register_needs_an_account(self):
        self.assertEqual(self.api.get("/register", {})[0], 400)

    def test_register(self):
        status, body = self.api.get("/register", {"account": ["Expenses:Coffee"]})
        self.assertEqual(status, 200)
        self.assertEqual(body["postings"][0]["minor"], 420)

    def test_unknown_path(self):
        self.assertEqual(self.api.get("/nothing", {})[0], 404)


class OverHttp(StoreCase):
    def test_version_over_http(self):
        server = make_server(config(), self.store, port=0)
        self.addCleanup(server.server_close)
        worker = threading.Thread(target=server.handle_request)
        worker.start()
        url = f"http://127.0.0.1:{server.server_address[1]}/version"
        with urllib.request.urlopen(url, timeout=5) as response:
            self.assertEqual(json.load(response), {"version": "0.9.2"})
        worker.join()


if __name__ == "__main__":
    unittest.main()
