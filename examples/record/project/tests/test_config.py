import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from ledger.config import Config, ConfigError, load


class ConfigCase(unittest.TestCase):
    def load(self, text: str) -> Config:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ledger.toml"
            path.write_text(text)
            return load(path)

    def test_defaults(self):
        self.assertEqual(Config().get("server.port"), 8417)

    def test_file(self):
        self.assertEqual(self.load("[server]\nport = 9000\n").get("server.port"), 9000)

    def test_environment_wins(self):
        with mock.patch.dict(os.environ, {"LEDGER_SERVER_PORT": "9001"}):
            self.assertEqual(Config().get("server.port"), 9001)

    def test_environment_of_the_wrong_type(self):
        with mock.patch.dict(os.environ, {"LEDGER_SERVER_PORT": "many"}):
            with self.assertRaises(ConfigError):
                Config().get("server.port")

    def test_unknown_key(self):
        with self.assertRaisesRegex(ConfigError, "server.prot"):
            self.load("[server]\nprot = 1\n")

    def test_unknown_section(self):
        with self.assertRaisesRegex(ConfigError, "servers"):
            self.load("[servers]\nport = 1\n")

    def test_wrong_type(self):
        with self.assertRaisesRegex(ConfigError, "expected int"):
            self.load('[server]\nport = "8417"\n')

    def test_the_shipped_file_loads(self):
        shipped = load(Path(__file__).parents[1] / "ledger.toml")
        self.assertEqual(shipped.get("server.port"), 8417)


if __name__ == "__main__":
    unittest.main()
